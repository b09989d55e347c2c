<?php

namespace App\Http;

use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;

/**
 * An answer without Content-Type. Both Symfony and PHP add one where the
 * application sets none, so both have to be told not to.
 */
class UntypedResponse extends Response
{
    public function prepare(Request $request): static
    {
        parent::prepare($request);
        $this->headers->remove('Content-Type');

        return $this;
    }

    public function sendHeaders(): static
    {
        $type = ini_set('default_mimetype', '');
        app()->terminating(fn () => ini_set('default_mimetype', $type));

        return parent::sendHeaders();
    }
}
