#!/usr/bin/env php
<?php

/*
 * A resident application server in plain PHP: what Swoole or RoadRunner is to
 * Octane, for machines that have neither. The master forks workers over one
 * listening socket; each boots Laravel once and answers request after request
 * over HTTP/1.1 keep-alive, one at a time.
 *
 *   php resident/server.php [--listen=127.0.0.1:8000] [--workers=2] [--max-requests=0]
 *
 * SIGTERM: finish the request in hand and stop. SIGHUP: replace the workers one
 * by one (octane:reload). SIGCHLD: a worker that died is replaced.
 */

use App\Resident;
use App\ResidentKernel;
use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;

$options = getopt('', ['listen:', 'workers:', 'max-requests:']);
$listen = $options['listen'] ?? '127.0.0.1:8000';
$workers = (int) ($options['workers'] ?? 2);
$limit = (int) ($options['max-requests'] ?? 0);

$context = stream_context_create(['socket' => ['backlog' => 4096, 'tcp_nodelay' => true]]);
$address = str_contains($listen, '/') ? "unix://$listen" : "tcp://$listen";
$socket = stream_socket_server($address, $code, $why, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, $context);
if (!$socket) {
    fwrite(STDERR, "cannot listen on $listen: $why\n");
    exit(1);
}
stream_set_blocking($socket, false);

$pids = [];
$stopping = false;
$replace = [];
$spawn = function () use (&$pids, $socket, $limit) {
    $pid = pcntl_fork();
    if ($pid === 0) {
        foreach ([SIGTERM, SIGINT, SIGHUP, SIGCHLD] as $signal) {
            pcntl_signal($signal, SIG_DFL);
        }
        (new Worker($socket, $limit))->run();
        exit(0);
    }
    $pids[$pid] = true;
};
pcntl_async_signals(true);
$stop = function () use (&$stopping, &$pids) {
    $stopping = true;
    foreach (array_keys($pids) as $pid) {
        posix_kill($pid, SIGTERM);
    }
};
pcntl_signal(SIGTERM, $stop);
pcntl_signal(SIGINT, $stop);
pcntl_signal(SIGHUP, function () use (&$pids, &$replace) {
    $replace = array_keys($pids);
});
do {
    // All start from one place: the trace of an exception shows it, and must not tell who was there first.
    while (!$stopping && count($pids) < $workers) {
        $spawn();
    }
    if ($replace && !$stopping) {
        posix_kill(array_shift($replace), SIGTERM);
    }
    $pid = pcntl_wait($status, WNOHANG);
    if ($pid > 0) {
        unset($pids[$pid]);
        continue;
    }
    usleep(20000);
} while ($pids || !$stopping);

final class Worker
{
    private ResidentKernel $kernel;

    /** @var array<int, Connection> */
    private array $open = [];

    private bool $stopping = false;

    private int $handled = 0;

    public function __construct(private $socket, private int $limit)
    {
    }

    public function run(): void
    {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, function () {
            $this->stopping = true;
        });
        require __DIR__ . '/../laravel/bootstrap/autoload.php';
        $this->kernel = new ResidentKernel(dirname(__DIR__) . '/laravel', 'resident');

        while (!$this->stopping && ($this->limit === 0 || $this->handled < $this->limit)) {
            $read = array_map(fn (Connection $c) => $c->stream, $this->open);
            $read[] = $this->socket;
            $write = $except = null;
            if (@stream_select($read, $write, $except, 1) < 1) {
                continue;
            }
            foreach ($read as $stream) {
                if ($stream === $this->socket) {
                    $this->accept();
                    continue;
                }
                $this->serve($this->open[(int) $stream]);
            }
        }
    }

    private function accept(): void
    {
        $stream = @stream_socket_accept($this->socket, 0, $peer);
        if ($stream) {
            stream_set_blocking($stream, false);
            $this->open[(int) $stream] = new Connection($stream, $peer ?: '127.0.0.1:0');
        }
    }

    private function serve(Connection $connection): void
    {
        if (!$connection->fill()) {
            $this->close($connection);

            return;
        }
        while ($message = $connection->next()) {
            $this->handled++;
            $keep = $message['keep'] && !$this->stopping && ($this->limit === 0 || $this->handled < $this->limit);
            if (!$this->answer($connection, $message, $keep)) {
                $this->close($connection);

                return;
            }
        }
        if ($connection->broken) {
            $connection->send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            $this->close($connection);
        }
    }

    private function close(Connection $connection): void
    {
        unset($this->open[(int) $connection->stream]);
        @fclose($connection->stream);
    }

    /** Whether the connection stays open for another request. */
    private function answer(Connection $connection, array $message, bool $keep): bool
    {
        $request = $this->request($message);
        $this->kernel->answer($request, function (Response $response) use ($connection, $request, $message, &$keep) {
            $response->prepare($request);
            $keep = $this->respond($connection, $request, $response, $message['version'], $keep);
        });
        foreach ($message['temporary'] as $file) {
            @unlink($file);
        }

        return $keep;
    }

    private function request(array $message): Request
    {
        [$query, $post, $cookies] = [[], $message['post'], []];
        $target = $message['target'];
        $mark = strpos($target, '?');
        $raw = $mark === false ? '' : substr($target, $mark + 1);
        parse_str($raw, $query);
        $server = [
            'REQUEST_METHOD' => $message['method'],
            'REQUEST_URI' => $target,
            'QUERY_STRING' => $raw,
            'SERVER_PROTOCOL' => 'HTTP/' . $message['version'],
            'SCRIPT_NAME' => '/index.php',
            'SERVER_NAME' => '127.0.0.1',
            'REQUEST_TIME' => time(),
            'REQUEST_TIME_FLOAT' => microtime(true),
        ];
        [$server['REMOTE_ADDR'], $server['REMOTE_PORT']] = explode(':', $message['peer']) + ['127.0.0.1', '0'];
        foreach ($message['headers'] as $name => $value) {
            $key = strtoupper(strtr($name, '-', '_'));
            $server[in_array($key, ['CONTENT_TYPE', 'CONTENT_LENGTH'], true) ? $key : "HTTP_$key"] = $value;
        }
        foreach (explode(';', $message['headers']['cookie'] ?? '') as $pair) {
            $parts = explode('=', trim($pair), 2);
            if (count($parts) === 2) {
                $cookies[$parts[0]] = urldecode($parts[1]);
            }
        }

        return Request::createFromBase(new \Symfony\Component\HttpFoundation\Request(
            $query,
            $post,
            [],
            $cookies,
            $message['files'],
            $server,
            $message['body']
        ));
    }

    private function respond(
        Connection $connection,
        Request $request,
        Response $response,
        string $version,
        bool $keep
    ): bool {
        $status = $response->getStatusCode();
        $lines = "HTTP/1.1 $status " . (Response::$statusTexts[$status] ?? 'Unknown') . "\r\n";
        foreach ($response->headers->allPreserveCaseWithoutCookies() as $name => $values) {
            if (in_array(strtolower($name), ['content-length', 'transfer-encoding', 'connection'], true)) {
                continue;
            }
            foreach ($values as $value) {
                $lines .= "$name: $value\r\n";
            }
        }
        foreach ($response->headers->getCookies() as $cookie) {
            $lines .= "Set-Cookie: $cookie\r\n";
        }
        $bare = $request->isMethod('HEAD') || $status === 204 || $status === 304 || $status < 200;

        if ($response instanceof StreamedResponse || $response instanceof BinaryFileResponse) {
            $length = $response->headers->get('Content-Length');
            $chunked = $length === null && $version !== '1.0';
            $keep = $keep && ($length !== null || $chunked);
            $lines .= $chunked ? "Transfer-Encoding: chunked\r\n" : ($length !== null ? "Content-Length: $length\r\n" : '');
            $connection->send($lines . $this->persistence($version, $keep));
            if ($bare) {
                return $keep;
            }
            ob_start(function (string $part) use ($connection, $chunked) {
                if ($part !== '') {
                    $connection->send($chunked ? dechex(strlen($part)) . "\r\n$part\r\n" : $part);
                    Resident::$gone = $connection->gone;
                }

                return '';
            }, 1);
            if ($response instanceof BinaryFileResponse) {
                readfile($response->getFile()->getPathname());
            } else {
                $response->sendContent();
            }
            ob_end_flush();
            if ($chunked) {
                $connection->send("0\r\n\r\n");
            }

            return $keep && !$connection->gone;
        }
        $body = (string) $response->getContent();
        $lines .= in_array($status, [204, 304], true) ? '' : 'Content-Length: ' . strlen($body) . "\r\n";
        $connection->send($lines . $this->persistence($version, $keep) . ($bare ? '' : $body));

        return $keep;
    }

    /** The Connection header, where one is needed, and the end of the head. */
    private function persistence(string $version, bool $keep): string
    {
        if (!$keep) {
            return "Connection: close\r\n\r\n";
        }

        return $version === '1.0' ? "Connection: keep-alive\r\n\r\n" : "\r\n";
    }
}

/** One client's connection: bytes in, whole HTTP/1.1 requests out. */
final class Connection
{
    public bool $broken = false;

    /** A write has failed: nobody reads any more. */
    public bool $gone = false;

    private string $buffer = '';

    private bool $continued = false;

    public function __construct(public $stream, private string $peer)
    {
    }

    public function fill(): bool
    {
        $part = @fread($this->stream, 1 << 18);
        if ($part === false || ($part === '' && feof($this->stream))) {
            return false;
        }
        $this->buffer .= $part;

        return true;
    }

    public function send(string $bytes): void
    {
        while ($bytes !== '' && !$this->gone) {
            $sent = @fwrite($this->stream, $bytes);
            if ($sent === false || ($sent === 0 && feof($this->stream))) {
                $this->gone = true;

                return;
            }
            $bytes = substr($bytes, $sent);
            if ($bytes !== '' && $sent === 0) {
                $read = $except = null;
                $write = [$this->stream];
                @stream_select($read, $write, $except, 5);
            }
        }
    }

    public function next(): ?array
    {
        $end = strpos($this->buffer, "\r\n\r\n");
        if ($end === false) {
            $this->broken = strlen($this->buffer) > 65536;

            return null;
        }
        $lines = explode("\r\n", substr($this->buffer, 0, $end));
        if (!preg_match('~^([!#$%&\'*+.^_`|\~0-9A-Za-z-]+) (\S+) HTTP/(1\.[01])$~', array_shift($lines), $first)) {
            $this->broken = true;

            return null;
        }
        $headers = [];
        foreach ($lines as $line) {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $name = strtolower($name);
            $value = trim($value);
            $headers[$name] = isset($headers[$name]) ? $headers[$name] . ($name === 'cookie' ? '; ' : ', ') . $value : $value;
        }
        $start = $end + 4;
        if (strcasecmp($headers['transfer-encoding'] ?? '', 'chunked') === 0) {
            $body = $this->chunks($start);
        } else {
            $length = (int) ($headers['content-length'] ?? 0);
            $body = strlen($this->buffer) - $start >= $length ? substr($this->buffer, $start, $length) : null;
            $start += $length;
        }
        if ($body === null) {
            if (!$this->continued && strcasecmp($headers['expect'] ?? '', '100-continue') === 0) {
                $this->continued = true;
                $this->send("HTTP/1.1 100 Continue\r\n\r\n");
            }

            return null;
        }
        $this->continued = false;
        $this->buffer = substr($this->buffer, $start);
        $connection = strtolower($headers['connection'] ?? '');
        $message = [
            'method' => $first[1], 'target' => $first[2], 'version' => $first[3],
            'headers' => $headers, 'body' => $body, 'peer' => $this->peer,
            'post' => [], 'files' => [], 'temporary' => [],
            'keep' => $first[3] === '1.1' ? $connection !== 'close' : $connection === 'keep-alive',
        ];
        $type = $headers['content-type'] ?? '';
        if (stripos($type, 'application/x-www-form-urlencoded') === 0) {
            parse_str($body, $message['post']);
        } elseif (preg_match('~^multipart/form-data;.*boundary="?([^";]+)~i', $type, $match)) {
            $this->parts($match[1], $message);
        }

        return $message;
    }

    private function chunks(int &$at): ?string
    {
        $body = '';
        for (;;) {
            $line = strpos($this->buffer, "\r\n", $at);
            if ($line === false) {
                return null;
            }
            $size = hexdec(strtok(substr($this->buffer, $at, $line - $at), ';'));
            $at = $line + 2;
            if (strlen($this->buffer) < $at + $size + 2) {
                return null;
            }
            $body .= substr($this->buffer, $at, $size);
            $at += $size + 2;
            if ($size === 0) {
                return $body;
            }
        }
    }

    private function parts(string $boundary, array &$message): void
    {
        $pairs = [];
        foreach (array_slice(explode("--$boundary", "\r\n" . $message['body']), 1) as $part) {
            $part = preg_replace('~^\r\n~', '', $part);
            [$head, $content] = explode("\r\n\r\n", $part, 2) + [1 => null];
            if ($content === null || !preg_match('~;\s*name="([^"]*)"~i', $head, $name)) {
                continue;
            }
            $content = substr($content, 0, -2);
            if (!preg_match('~;\s*filename="([^"]*)"~i', $head, $file)) {
                $pairs[] = urlencode($name[1]) . '=' . urlencode($content);
                continue;
            }
            $path = tempnam(sys_get_temp_dir(), 'upload');
            file_put_contents($path, $content);
            $message['temporary'][] = $path;
            $type = preg_match('~^content-type:\s*(\S+)~mi', $head, $match) ? $match[1] : null;
            $upload = new UploadedFile($path, $file[1], $type, UPLOAD_ERR_OK, true);
            if (str_ends_with($name[1], '[]')) {
                $message['files'][substr($name[1], 0, -2)][] = $upload;
            } else {
                $message['files'][$name[1]] = $upload;
            }
        }
        parse_str(implode('&', $pairs), $message['post']);
    }
}
