<?php

return [
    'default' => 'file',
    'stores' => [
        'file' => ['driver' => 'file', 'path' => storage_path('framework/cache')],
        'array' => ['driver' => 'array', 'serialize' => false],
    ],
    'prefix' => 'test',
];
