<?php

/*
 * A RoadRunner worker without RoadRunner's PHP packages: the pipe protocol and
 * the HTTP messages of RoadRunner 2024 and 2025 (goridge 3 frames, protobuf
 * contexts), with Laravel kept in memory as Octane keeps it.
 *
 * A frame, little-endian:
 *   byte 0      version 1 << 4 | header length in words (3 + options)
 *   byte 1      0x01 control, 0x04 raw, 0x08 JSON, 0x40 error, 0x80 protobuf
 *   bytes 2-5   payload length        bytes 6-9  CRC-32 of bytes 0 to 5
 *   byte 10     0x01 more frames follow, 0x02 stop, 0x04 ping, 0x08 pong
 *   byte 11     reserved              then       options, four bytes each
 * One option is the length of the context, which comes before the body.
 */

use App\Resident;
use App\ResidentKernel;
use Illuminate\Http\Request;
use Illuminate\Http\UploadedFile;
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;

ini_set('display_errors', 'stderr'); // standard output carries the protocol

require __DIR__ . '/../laravel/bootstrap/autoload.php';

final class Pipe
{
    public const CONTROL = 0x01;
    public const JSON = 0x08;
    public const ERROR = 0x40;
    public const PROTO = 0x80;
    public const MORE = 0x01;
    public const STOP = 0x02;

    private $in;

    private $out;

    public function __construct()
    {
        $this->in = fopen('php://stdin', 'rb');
        stream_set_read_buffer($this->in, 0); // so that ready() sees all there is
        $this->out = fopen('php://stdout', 'wb');
    }

    /** @return array{flags: int, stream: int, context: string, body: string}|null */
    public function read(): ?array
    {
        $head = $this->bytes(12);
        if ($head === null) {
            return null;
        }
        $field = unpack('Cfirst/Cflags/Vlength/Vcrc/Cstream', $head);
        if (crc32(substr($head, 0, 6)) !== $field['crc']) {
            throw new RuntimeException('damaged frame');
        }
        $words = ($field['first'] & 15) - 3;
        $options = $words > 0 ? unpack('V*', $this->bytes(4 * $words)) : [];
        $payload = $field['length'] > 0 ? $this->bytes($field['length']) : '';
        $cut = $options[1] ?? 0;

        return [
            'flags' => $field['flags'],
            'stream' => $field['stream'],
            'context' => substr($payload, 0, $cut),
            'body' => substr($payload, $cut),
        ];
    }

    public function write(int $flags, string $body, ?string $context = null, int $stream = 0): void
    {
        $options = $context === null ? '' : pack('V', strlen($context));
        $payload = $context . $body;
        $head = pack('CCV', 0x10 | (3 + intdiv(strlen($options), 4)), $flags, strlen($payload));
        $left = $head . pack('VCC', crc32($head), $stream, 0) . $options . $payload;
        while ($left !== '') {
            $sent = fwrite($this->out, $left);
            if ($sent === false || $sent === 0) {
                exit(1);
            }
            $left = substr($left, $sent);
        }
        fflush($this->out);
    }

    public function ready(): bool
    {
        $read = [$this->in];
        $write = $except = null;

        return stream_select($read, $write, $except, 0) > 0;
    }

    private function bytes(int $count): ?string
    {
        $all = '';
        while (($left = $count - strlen($all)) > 0) {
            $part = fread($this->in, $left);
            if ($part === false || $part === '') {
                return null;
            }
            $all .= $part;
        }

        return $all;
    }
}

/** As much of protobuf as the two messages need: varints and byte strings. */
final class Proto
{
    /** @return array<int, list<int|string>> the values of each field by number */
    public static function decode(string $bytes): array
    {
        $fields = [];
        for ($at = 0, $end = strlen($bytes); $at < $end;) {
            $key = self::varint($bytes, $at);
            if (($key & 7) === 0) {
                $fields[$key >> 3][] = self::varint($bytes, $at);
                continue;
            }
            $length = self::varint($bytes, $at);
            $fields[$key >> 3][] = substr($bytes, $at, $length);
            $at += $length;
        }

        return $fields;
    }

    /** @param list<string> $entries @return array<string, list<string>> a map of lists */
    public static function map(array $entries): array
    {
        $map = [];
        foreach ($entries as $entry) {
            $pair = self::decode($entry);
            $map[$pair[1][0] ?? ''] = self::decode($pair[2][0] ?? '')[1] ?? [];
        }

        return $map;
    }

    public static function bytes(int $field, string $value): string
    {
        return self::number($field << 3 | 2) . self::number(strlen($value)) . $value;
    }

    public static function number(int $value): string
    {
        for ($out = ''; $value > 127; $value >>= 7) {
            $out .= chr($value & 127 | 128);
        }

        return $out . chr($value);
    }

    private static function varint(string $bytes, int &$at): int
    {
        for ($value = $shift = 0;; $shift += 7) {
            $byte = ord($bytes[$at++]);
            $value |= ($byte & 127) << $shift;
            if ($byte < 128) {
                return $value;
            }
        }
    }
}

function request_of(array $frame): Request
{
    $field = Proto::decode($frame['context']);
    $parts = parse_url($field[4][0]) ?: [];
    $target = ($parts['path'] ?? '/') . (isset($parts['query']) ? '?' . $parts['query'] : '');
    $server = [
        'REQUEST_METHOD' => $field[3][0] ?? 'GET',
        'REQUEST_URI' => $target,
        'QUERY_STRING' => $parts['query'] ?? '',
        'SERVER_PROTOCOL' => $field[2][0] ?? 'HTTP/1.1',
        'SCRIPT_NAME' => '/index.php',
        'SERVER_NAME' => $parts['host'] ?? '127.0.0.1',
        'SERVER_PORT' => $parts['port'] ?? 80,
        'HTTPS' => ($parts['scheme'] ?? '') === 'https' ? 'on' : 'off',
        'REMOTE_ADDR' => $field[1][0] ?? '127.0.0.1',
        'REQUEST_TIME' => time(),
        'REQUEST_TIME_FLOAT' => microtime(true),
    ];
    foreach (Proto::map($field[5] ?? []) as $name => $values) {
        $key = strtoupper(strtr($name, '-', '_'));
        $server[in_array($key, ['CONTENT_TYPE', 'CONTENT_LENGTH'], true) ? $key : "HTTP_$key"] = implode(', ', $values);
    }
    $cookies = array_map(fn ($values) => urldecode($values[0] ?? ''), Proto::map($field[6] ?? []));
    parse_str($parts['query'] ?? '', $query);
    $post = [];
    $body = $frame['body'];
    $form = preg_match('~^(application/x-www-form-urlencoded|multipart/form-data)~i', $server['CONTENT_TYPE'] ?? '');
    if ($form && ($field[8][0] ?? 0)) {
        $post = json_decode($body, true) ?: []; // RoadRunner has parsed the form
        $body = '';
    }
    $uploads = json_decode($field[9][0] ?? '', true) ?: [];
    $files = function (array $tree) use (&$files): array {
        return array_map(fn ($node) => isset($node['tmpName'])
            ? new UploadedFile($node['tmpName'], $node['name'], $node['mime'], $node['error'], true)
            : $files($node), $tree);
    };

    return Request::createFromBase(new Symfony\Component\HttpFoundation\Request(
        $query,
        $post,
        [],
        $cookies,
        $files($uploads),
        $server,
        $body
    ));
}

function head_of(Response $response): string
{
    $out = "\x08" . Proto::number($response->getStatusCode());
    $headers = $response->headers->allPreserveCaseWithoutCookies();
    foreach ($response->headers->getCookies() as $cookie) {
        $headers['Set-Cookie'][] = (string) $cookie;
    }
    foreach ($headers as $name => $values) {
        $list = implode('', array_map(fn ($value) => Proto::bytes(1, (string) $value), $values));
        $out .= Proto::bytes(2, Proto::bytes(1, $name) . Proto::bytes(2, $list));
    }

    return $out;
}

$pipe = new Pipe();
$kernel = null;
$send = function (Request $request, Response $response) use ($pipe): void {
    $response->prepare($request);
    $context = head_of($response);
    if (!$response instanceof StreamedResponse && !$response instanceof BinaryFileResponse) {
        $pipe->write(Pipe::PROTO, (string) $response->getContent(), $context);

        return;
    }
    $stopped = false;
    ob_start(function (string $part) use ($pipe, &$context, &$stopped) {
        if ($part !== '' && !$stopped) {
            $pipe->write(Pipe::PROTO, $part, $context, Pipe::MORE);
            $context = '';
            // Where the client has gone away RoadRunner says stop, and waits
            // for the frame that ends the answer.
            if ($pipe->ready()) {
                $answer = $pipe->read();
                $stopped = $answer === null || ($answer['stream'] & Pipe::STOP) !== 0;
                Resident::$gone = $stopped;
            }
        }

        return '';
    }, 1);
    $response instanceof BinaryFileResponse ? readfile($response->getFile()->getPathname()) : $response->sendContent();
    ob_end_flush();
    $pipe->write(Pipe::PROTO, '', $context);
};

while (($frame = $pipe->read()) !== null) {
    if ($frame['flags'] & Pipe::CONTROL) {
        $order = json_decode($frame['body'], true);
        if (isset($order['pid'])) {
            $kernel = new ResidentKernel(dirname(__DIR__) . '/laravel', 'roadrunner');
            $pipe->write(Pipe::CONTROL | Pipe::JSON, json_encode(['pid' => getmypid()]));
            continue;
        }
        break; // {"stop":true}
    }
    try {
        $request = request_of($frame);
        $kernel->answer($request, fn (Response $response) => $send($request, $response));
    } catch (Throwable $e) {
        fwrite(STDERR, $e . "\n");
        $pipe->write(Pipe::ERROR, $e->getMessage(), '');
    }
}
