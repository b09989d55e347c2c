<?php

use App\Http\Middleware\CountRequest;
use App\Http\UntypedResponse;
use App\Models\User;
use App\Output;
use App\Resident;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Route;

// The constant answer that every load figure is measured on.
Route::get('ping', fn () => response()->json(['pong' => true]));

Route::get('users', fn () => User::query()->orderBy('id')->paginate(20));
Route::get('users/{user}', fn (User $user) => $user)->whereNumber('user');

// What the application was told of the request: the whole CGI environment …
Route::any('server/{rest?}', function (Request $request) {
    $server = $request->server->all();
    ksort($server);

    return response()->json([
        'server' => $server,
        'runtime' => ['sapi' => PHP_SAPI, 'resident' => Resident::$server],
    ]);
})->where('rest', '.*');

// … and the same as Laravel reads it.
Route::any('echo/{rest?}', function (Request $request) {
    $body = $request->getContent();

    return response()->json([
        'method' => $request->getMethod(),
        'scheme' => $request->getScheme(),
        'host' => $request->getHost(),
        'port' => $request->getPort(),
        'uri' => $request->getRequestUri(),
        'url' => $request->fullUrl(),
        'path' => $request->path(),
        'ip' => $request->ip(),
        'ips' => $request->ips(),
        'secure' => $request->secure(),
        'protocol' => $request->getProtocolVersion(),
        'query' => $request->query(),
        'post' => $request->post(),
        'headers' => $request->headers->all(),
        'cookies' => $request->cookies->all(),
        'length' => strlen($body),
        'sha256' => hash('sha256', $body),
    ]);
})->where('rest', '.*');

Route::post('upload', function (Request $request) {
    $describe = fn ($file) => [
        'name' => $file->getClientOriginalName(),
        'type' => $file->getClientMimeType(),
        'size' => $file->getSize(),
        'sha256' => hash_file('sha256', $file->getPathname()),
        'error' => $file->getError(),
    ];
    $files = [];
    foreach ($request->allFiles() as $field => $file) {
        $files[$field] = is_array($file) ? array_map($describe, $file) : $describe($file);
    }

    return response()->json(['fields' => $request->post(), 'files' => $files]);
});

Route::any('status/{code}', fn (int $code) => response("status $code\n", $code))
    ->where('code', '[2-5][0-9][0-9]');

Route::get('slow/{ms}', function (int $ms) {
    usleep(min($ms, 60000) * 1000);

    return response()->json(['slept' => $ms]);
})->whereNumber('ms');

Route::get('large/{kib}', function (int $kib) {
    return response(str_repeat(str_pad('0123456789abcdef', 1024, '.'), min($kib, 65536)))
        ->header('Content-Type', 'application/octet-stream');
})->whereNumber('kib');

// One line every gap milliseconds, flushed: no proxy may hold it back.
Route::get('stream/{lines?}/{gap?}', function (int $lines = 5, int $gap = 100) {
    return response()->stream(function () use ($lines, $gap) {
        for ($i = 1; $i <= min($lines, 100000); $i++) {
            Output::piece("line $i\n");
            usleep($gap * 1000);
        }
    }, 200, ['Content-Type' => 'text/plain; charset=UTF-8', 'X-Accel-Buffering' => 'no']);
})->whereNumber(['lines', 'gap']);

// "at" is the machine's monotonic clock in milliseconds.
Route::get('sse/{events?}/{gap?}', function (Request $request, int $events = 5, int $gap = 100) {
    $from = (int) $request->headers->get('Last-Event-ID', '0');

    return response()->stream(function () use ($events, $gap, $from) {
        echo "retry: 1000\n\n";
        for ($i = $from + 1; $i <= $from + min($events, 10000); $i++) {
            $at = intdiv(hrtime(true), 1000000);
            Output::piece("id: $i\nevent: tick\ndata: {\"n\":$i,\"at\":$at}\n\n");
            usleep($gap * 1000);
        }
    }, 200, [
        'Content-Type' => 'text/event-stream',
        'Cache-Control' => 'no-cache',
        'X-Accel-Buffering' => 'no',
    ]);
})->whereNumber(['events', 'gap']);

// Without end, until the client leaves; what became of it stands in
// storage/app/endless-NAME and here.
Route::get('endless/{name}/{gap?}', fn (string $name, int $gap = 20) => response()->stream(
    fn () => Output::endless(storage_path("app/endless-$name"), $gap),
    200,
    ['Content-Type' => 'text/plain; charset=UTF-8', 'X-Accel-Buffering' => 'no']
))->where(['name' => '[A-Za-z0-9_-]+', 'gap' => '[0-9]+']);

Route::get('ended/{name}', function (string $name) {
    $file = storage_path("app/endless-$name");

    return response()->json(['ended' => is_file($file) ? trim(file_get_contents($file)) : null]);
})->where('name', '[A-Za-z0-9_-]+');

// Whole mebibytes, in pieces, of a length that is known beforehand.
Route::get('download/{mib}', fn (int $mib) => response()->stream(function () use ($mib) {
    $piece = str_repeat(str_pad('0123456789abcdef', 1024, '.'), 64);
    for ($i = 0; $i < $mib * 16 && !Output::gone(); $i++) {
        Output::piece($piece);
    }
}, 200, [
    'Content-Type' => 'application/octet-stream',
    'Content-Disposition' => "attachment; filename=\"$mib.bin\"",
    'Content-Length' => $mib << 20,
]))->whereNumber('mib');

// Takes a body of any size and keeps none of it.
Route::match(['post', 'put'], 'sink', function (Request $request) {
    $body = $request->getContent(true);
    $length = 0;
    $hash = hash_init('sha256');
    while (!feof($body)) {
        $piece = fread($body, 1 << 18);
        $length += strlen($piece);
        hash_update($hash, $piece);
    }

    return response()->json([
        'length' => $length,
        'sha256' => hash_final($hash),
        'declared' => (int) $request->server('CONTENT_LENGTH'),
        'memory' => memory_get_peak_usage(),
    ]);
});

// Counts how often PHP was asked; ?count=NAME does so on every other route.
Route::get('count/{name}', fn (string $name) => response()->json(['count' => CountRequest::count($name)]));
Route::match(['post', 'put', 'patch', 'delete'], 'count/{name}', function (string $name) {
    CountRequest::mark($name);

    return response()->json(['count' => CountRequest::count($name)]);
});

// A resource as a form with a spoofed method, or a client, changes it.
Route::match(['put', 'patch', 'delete'], 'items/{item}', fn (Request $request, int $item) => response()->json([
    'item' => $item,
    'method' => $request->method(),
    'input' => $request->input(),
]))->whereNumber('item');

// One header line of so many KiB, as a page with many preloaded modules has it.
Route::get('link/{kib}', function (int $kib) {
    $entry = fn (int $n) => sprintf('</build/assets/module-%08d.js>; rel="modulepreload"', $n);
    $count = intdiv($kib * 1024, strlen($entry(0)) + 2) + 1;

    return response("linked\n", 200, ['Content-Type' => 'text/plain; charset=UTF-8'])
        ->header('Link', implode(', ', array_map($entry, range(1, $count))));
})->whereNumber('kib');

Route::get('conditional', function (Request $request) {
    $response = response("the same as ever\n", 200, ['Content-Type' => 'text/plain; charset=UTF-8'])
        ->setEtag('ever')
        ->setLastModified(new DateTimeImmutable('2024-01-01 00:00:00 UTC'));
    $response->isNotModified($request);

    return $response;
});

Route::get('untyped', fn () => new UntypedResponse("of no type\n"));

// Tells a resident worker from a process that boots for every request.
Route::get('state', fn () => response()->json([
    'server' => Resident::$server,
    'sapi' => PHP_SAPI,
    'pid' => getmypid(),
    'handled' => Resident::$handled,
    'memory' => memory_get_usage(),
]));

Route::get('boom/{debug?}', function (?string $debug = null) {
    config(['app.debug' => $debug === 'debug' || config('app.debug')]);
    throw new RuntimeException('boom');
})->where('debug', 'debug');

// The ways in which a worker goes away in the middle of a request. (Signal 9 by
// number: the constants of signals exist on the command line only.)
Route::get('fatal/{kind}', function (string $kind) {
    switch ($kind) {
        case 'exit':
            exit('gone');
        case 'memory':
            ini_set('memory_limit', '32M');
            $hold = [];
            while (true) {
                $hold[] = str_repeat('x', 1 << 20);
            }
            // no break
        case 'time':
            set_time_limit(1);
            while (true) {
            }
            // no break
        case 'kill':
            posix_kill(getmypid(), 9);
            usleep(1000000);
            // no break
        case 'halfway':
            return response()->stream(function () {
                Output::piece(str_repeat('x', 65536));
                usleep(100000);
                posix_kill(getmypid(), 9);
                usleep(1000000);
            });
        case 'stderr':
            error_log("first line\nsecond line");

            return response("told stderr\n");
        case 'headers':
            $response = response("many headers\n");
            for ($i = 0; $i < 200; $i++) {
                $response->headers->set("X-Many-$i", str_repeat('v', 100));
            }

            return $response;
    }
    abort(404);
});
