<?php

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;

/**
 * Writes down every request that reached PHP, as PHP understood it: a line of
 * JSON with its target, the length of its body, and what names a client or a
 * frame in its variables. Only while a test has made the file.
 */
class RecordRequest
{
    private const TELLING = '~^(CONTENT_LENGTH|REMOTE_ADDR|HTTPS|HTTP_(HOST|PROXY|TE|TRAILER|CONNECTION|CONTENT_LENGTH|TRANSFER_ENCODING|UPGRADE|EXPECT|FORWARDED|X_FORWARDED_\w+|REMOTE_ADDR))$~';

    public function handle(Request $request, Closure $next)
    {
        $file = storage_path('app/requests');
        clearstatcache(true, $file);
        if (is_file($file)) {
            $server = $request->server->all();
            $telling = array_filter($server, fn ($name) => preg_match(self::TELLING, $name), ARRAY_FILTER_USE_KEY);
            $seen = ['target' => $server['REQUEST_URI'], 'length' => strlen($request->getContent()), 'variables' => (object) $telling];
            file_put_contents($file, json_encode($seen, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES) . "\n", FILE_APPEND | LOCK_EX);
        }

        return $next($request);
    }
}
