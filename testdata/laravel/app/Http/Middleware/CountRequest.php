<?php

namespace App\Http\Middleware;

use Closure;
use Illuminate\Http\Request;

/**
 * Leaves a mark for every request with ?count=NAME that reached PHP, before
 * anything else happens to it, so that a test can tell whether a script ran and
 * how often.
 */
class CountRequest
{
    public function handle(Request $request, Closure $next)
    {
        $name = $request->query('count');
        if (is_string($name)) {
            self::mark($name);
        }

        return $next($request);
    }

    public static function mark(string $name): void
    {
        file_put_contents(self::file($name), '.', FILE_APPEND | LOCK_EX);
    }

    public static function count(string $name): int
    {
        $file = self::file($name);
        clearstatcache(true, $file);

        return is_file($file) ? filesize($file) : 0;
    }

    private static function file(string $name): string
    {
        return storage_path('app/count-' . preg_replace('~[^A-Za-z0-9_-]~', '_', $name));
    }
}
