<?php

namespace App;

/**
 * What a long-running worker keeps between requests. Under PHP-FPM every
 * request sees zero; under a resident server the count of this worker.
 */
final class Resident
{
    public static string $server = 'fpm';

    public static int $handled = 0;

    /** Set by the server when the connection of the request in hand is gone. */
    public static bool $gone = false;
}
