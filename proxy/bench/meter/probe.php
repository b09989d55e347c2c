<?php

// What this PHP is and how it is set up, for someone who measures it. No value of the application but those named here.
$names = ['APP_ENV', 'APP_DEBUG', 'APP_CONFIG_CACHE', 'APP_ROUTES_CACHE', 'SESSION_DRIVER', 'CACHE_STORE', 'CACHE_DRIVER',
    'QUEUE_CONNECTION', 'DB_CONNECTION'];
$environment = [];
foreach ($names as $name) {
    $value = getenv($name);
    if (is_string($value)) {
        $environment[$name] = $value;
    }
}
$opcache = 'off';
$jit = 'off';
if (extension_loaded('Zend OPcache') && ini_get('opcache.enable')) {
    $status = function_exists('opcache_get_status') ? @opcache_get_status(false) : false;
    // It tells nothing where opcache.restrict_api or disable_functions forbids it.
    $opcache = $jit = 'unknown';
    if (is_array($status)) {
        $opcache = $status['opcache_enabled'] ? 'on' : 'off';
        $jit = empty($status['jit']['on']) ? 'off' : 'on';
    } elseif (function_exists('opcache_get_status') && !ini_get('opcache.restrict_api')) {
        $opcache = $jit = 'off';
    }
}
header('Content-Type: application/json');
echo json_encode([
    'php' => PHP_VERSION,
    'sapi' => PHP_SAPI,
    'opcache' => $opcache,
    'opcache_memory' => (string) ini_get('opcache.memory_consumption'),
    'opcache_validate' => ini_get('opcache.validate_timestamps') ? 'on' : 'off',
    'jit' => $jit,
    'xdebug' => extension_loaded('xdebug') ? 'loaded, mode ' . (getenv('XDEBUG_MODE') ?: ini_get('xdebug.mode')) : 'off',
    'environment' => (object) $environment,
]);
