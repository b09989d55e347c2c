<?php

namespace App;

use Illuminate\Container\Container;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;

/**
 * The application booted once and kept in memory, each request answered by a
 * copy of it: what Octane does under Swoole, RoadRunner and FrankenPHP, reduced
 * to the services this application uses.
 */
final class ResidentKernel
{
    /** Services that hold state of one request. */
    private const PER_REQUEST = [
        'session', 'session.store', 'cookie', 'redirect', 'validator', 'view.engine.resolver',
        \Illuminate\Session\Middleware\StartSession::class,
    ];

    private Application $app;

    private Kernel $kernel;

    public function __construct(string $base, string $server)
    {
        Resident::$server = $server;
        $this->app = require $base . '/bootstrap/app.php';
        $this->app->instance('request', Request::create('http://127.0.0.1/'));
        $this->kernel = $this->app->make(Kernel::class);
        $this->kernel->bootstrap();
        // Resolved before the first request, so that every copy shares them.
        foreach (['auth.driver', 'db', 'db.factory', 'encrypter', 'files', 'hash', 'log', 'router', 'routes', 'url', 'view', 'cache'] as $id) {
            if ($this->app->bound($id)) {
                $this->app->make($id);
            }
        }
    }

    /**
     * Answers one request; $send puts the answer on the wire before anything
     * that runs after it.
     */
    public function answer(Request $request, callable $send): void
    {
        // Closures of the service providers hold the original, so it is given
        // the request as well (the paginator's links are built from it).
        $this->app->instance('request', $request);
        $copy = clone $this->app;
        $this->enter($copy);
        $copy->instance('config', clone $this->app['config']);
        Facade::clearResolvedInstance('request');
        Resident::$handled++;
        Resident::$gone = false;
        try {
            $response = $this->kernel->handle($request);
            $route = $request->route();
            $send($response);
            $this->kernel->terminate($request, $response);
            if ($route && method_exists($route, 'flushController')) {
                $route->flushController();
            }
        } finally {
            foreach (self::PER_REQUEST as $id) {
                $copy->forgetInstance($id);
            }
            $copy->flush();
            $this->enter($this->app);
        }
    }

    private function enter(Application $app): void
    {
        Container::setInstance($app);
        $app->instance('app', $app);
        $app->instance(Container::class, $app);
        Facade::clearResolvedInstances();
        Facade::setFacadeApplication($app);
        $this->kernel->setApplication($app);
        $app['router']->setContainer($app);
        $app['events']; // shared by every copy
        $app['url']->setRequest($app['request']);
        $app['view']->setContainer($app);
        $app['view']->share('app', $app);
        foreach (self::PER_REQUEST as $id) {
            $app->forgetInstance($id);
        }
        $this->rebind($app);
    }

    /** Services that captured the container or its session when they were made. */
    private function rebind(Application $app): void
    {
        $app['url']->setSessionResolver(fn () => $app['session'] ?? null);
        $app['url']->setKeyResolver(fn () => $app['config']['app.key']);
    }
}
