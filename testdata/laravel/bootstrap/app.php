<?php

$app = new Illuminate\Foundation\Application(dirname(__DIR__));

// Everything written at run time lives outside the source tree.
$var = getenv('APP_VAR') ?: dirname(__DIR__, 2) . '/var';
$app->useStoragePath($var . '/storage');
foreach (['SERVICES', 'PACKAGES', 'CONFIG', 'ROUTES', 'EVENTS'] as $cache) {
    $file = $var . '/storage/bootstrap/' . strtolower($cache) . '.php';
    $_SERVER["APP_{$cache}_CACHE"] = $_ENV["APP_{$cache}_CACHE"] = $file;
}

$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, App\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, App\Exceptions\Handler::class);

return $app;
