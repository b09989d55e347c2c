<?php

use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Schema;

Artisan::command('app:seed {--users=5000}', function () {
    $file = config('database.connections.sqlite.database');
    if (is_file($file)) {
        unlink($file);
    }
    touch($file);
    DB::statement('pragma journal_mode = wal');
    Schema::create('users', function ($table) {
        $table->id();
        $table->string('name');
        $table->string('email')->unique();
        $table->string('password');
        $table->timestamps();
    });
    $first = ['Ada', 'Alan', 'Barbara', 'Claude', 'Donald', 'Edsger', 'Frances', 'Grace', 'John', 'Radia'];
    $last = ['Allen', 'Dijkstra', 'Hopper', 'Knuth', 'Liskov', 'Lovelace', 'McCarthy', 'Perlman', 'Shannon', 'Turing'];
    foreach (array_chunk(range(1, (int) $this->option('users')), 100) as $chunk) {
        DB::table('users')->insert(array_map(fn ($id) => [
            'id' => $id,
            'name' => $first[$id % 10] . ' ' . $last[intdiv($id, 10) % 10],
            'email' => "user$id@example.com",
            'password' => 'not-a-password',
            'created_at' => '2024-01-01 00:00:00',
            'updated_at' => '2024-01-01 00:00:00',
        ], $chunk));
    }
    $this->info(DB::table('users')->count() . ' users');
});
