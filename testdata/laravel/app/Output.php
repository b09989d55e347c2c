<?php

namespace App;

/** Streamed answers, piece by piece. */
final class Output
{
    /** Puts one piece on the wire now. */
    public static function piece(string $bytes): void
    {
        echo $bytes;
        if (ob_get_level() > 0) {
            ob_flush();
        }
        flush();
    }

    /** Whether the connection that the answer goes to is known to be gone. */
    public static function gone(): bool
    {
        return Resident::$gone || connection_aborted();
    }

    /**
     * Sends a line every $gap milliseconds until the connection is gone, and
     * writes down how that ended in $file: "aborted LINES" or "complete LINES".
     */
    public static function endless(string $file, int $gap): void
    {
        $lines = 0;
        $record = function () use ($file, &$lines) {
            file_put_contents($file, (self::gone() ? 'aborted' : 'complete') . " $lines\n");
        };
        if (Resident::$server === 'fpm') {
            // Here PHP ends the script inside of flush() when the connection is
            // gone. A minute is the end for a test that forgot about it.
            register_shutdown_function($record);
        }
        for ($end = microtime(true) + 60; microtime(true) < $end && !self::gone();) {
            $lines++;
            self::piece("line $lines\n");
            usleep($gap * 1000);
        }
        if (Resident::$server !== 'fpm') {
            $record();
        }
    }
}
