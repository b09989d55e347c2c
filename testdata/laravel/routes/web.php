<?php

use App\Output;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Cookie;
use Illuminate\Support\Facades\Route;

Route::get('/', fn () => response("the test application\n", 200, ['Content-Type' => 'text/plain']));

// The page of a typical application: session, CSRF token, cookies, a view.
Route::get('benchmark', function (Request $request) {
    $visits = $request->session()->get('visits', 0) + 1;
    $request->session()->put('visits', $visits);

    return view('benchmark', [
        'title' => 'Benchmark',
        'visits' => $visits,
        'rows' => array_map(fn ($n) => hash('crc32b', "row $n"), range(1, 50)),
    ]);
});

Route::get('form', fn () => view('form'));
Route::post('form', function (Request $request) {
    $data = $request->validate(['name' => 'required|string|max:64']);

    return redirect('/form')->with('message', "Thank you, {$data['name']}");
});

Route::get('redirect', fn () => redirect('/benchmark'));
Route::get('redirect/absolute', fn () => redirect()->to('http://example.com/elsewhere', 301));

Route::get('cookies', function () {
    Cookie::queue('secret', 'only Laravel reads this', 10);

    return response()->json(['set' => 4])
        ->cookie('plain', 'a b;c', 10, '/', null, false, false)
        ->cookie('plain_secure', 'x', 10, '/', null, true, true, false, 'strict')
        ->withCookie(cookie()->forget('gone'));
});

// Three ways to hand a file over: by PHP itself, by the server in front that
// takes X-Sendfile (a path of the machine) or X-Accel-Redirect (an internal URI).
Route::get('download/php', fn () => response()->download(storage_path('app/download.bin'), 'download.bin'));
Route::get('download/inline', fn () => response()->file(storage_path('app/download.bin')));
Route::get('download/sendfile', fn () => response('', 200, [
    'Content-Type' => 'application/octet-stream',
    'Content-Disposition' => 'attachment; filename="download.bin"',
    'X-Sendfile' => storage_path('app/download.bin'),
]));
Route::get('download/accel', fn () => response('', 200, [
    'Content-Type' => 'application/octet-stream',
    'Content-Disposition' => 'attachment; filename="download.bin"',
    'X-Accel-Redirect' => '/protected/download.bin',
]));

// 103 before the final answer, where the runtime has a way to send one
// (FrankenPHP); elsewhere only the Link header of the final answer.
Route::get('early-hints', function () {
    $link = '</css/app.css>; rel=preload; as=style';
    $sent = false;
    if (function_exists('headers_send')) {
        header("Link: $link");
        headers_send(103);
        $sent = true;
    }
    usleep(50000);

    return response("hinted\n", 200, ['Content-Type' => 'text/plain', 'Link' => $link, 'X-Early-Hints' => $sent ? 'sent' : 'none']);
});

Route::get('flush', fn () => response()->stream(function () {
    foreach (['first', 'second', 'third'] as $part) {
        Output::piece("$part\n");
        usleep(200000);
    }
}, 200, ['Content-Type' => 'text/plain']));

// What runs after the answer has been sent (fastcgi_finish_request and kin).
Route::get('after', function () {
    app()->terminating(function () {
        usleep(300000);
        file_put_contents(storage_path('app/after.txt'), microtime(true));
    });

    return response("answered\n");
});

// The exception page for users, and the one for developers (APP_DEBUG).
Route::get('boom/{debug?}', function (?string $debug = null) {
    config(['app.debug' => $debug === 'debug' || config('app.debug')]);
    throw new RuntimeException('boom');
})->where('debug', 'debug');
