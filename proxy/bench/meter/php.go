package meter

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// php is what the mappings of a process tell of the PHP in it. Empty fields are unknown.
type php struct {
	version       string // 8.2
	opcache       string // on or off
	opcacheMemory string // in MiB
	jit           string // buffer: there is one, whether it is in use or not
	xdebug        string
}

// mapping is a line of /proc/PID/maps.
type mapping struct {
	size   uint64
	mode   string // such as rw-s
	file   string
	shared bool
}

var (
	// extensionDir ends in PHP's API number, a date: /usr/lib/php/20220829, or in images no-debug-non-zts-20220829.
	extensionDir = regexp.MustCompile(`[/-](20\d{6})$`)
	// numbered are programs and libraries that are called after the version: php8.2, php-fpm8.2, libphp8.2.so.
	numbered = regexp.MustCompile(`^(?:lib)?php(?:-fpm)?(\d\.\d)(?:\.so)?$`)
)

// apiVersions are PHP's numbers for extensions, each of one version.
var apiVersions = map[string]string{
	"20190902": "7.4", "20200930": "8.0", "20210902": "8.1", "20220829": "8.2", "20230831": "8.3", "20240924": "8.4", "20250925": "8.5",
}

// readPHP looks at the mappings of a process, as far as they may be seen.
func (h *host) readPHP(pid int) php {
	text, err := h.text(procDir(pid) + "/maps")
	if err != nil {
		return php{}
	}
	var maps []mapping
	for line := range strings.Lines(text) {
		if m, ok := parseMapping(line); ok {
			maps = append(maps, m)
		}
	}
	return tellPHP(maps)
}

// parseMapping reads: range, mode, offset, device, inode, file.
func parseMapping(line string) (mapping, bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || len(fields[1]) != 4 {
		return mapping{}, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	low, err := strconv.ParseUint(from, 16, 64)
	high, err2 := strconv.ParseUint(to, 16, 64)
	if err != nil || err2 != nil || high < low {
		return mapping{}, false
	}
	return mapping{size: high - low, mode: fields[1], file: strings.Join(fields[5:], " "), shared: fields[1][3] == 's'}, true
}

func tellPHP(maps []mapping) php {
	var p php
	loaded := map[string]bool{} // extensions
	for _, m := range maps {
		dir, name := path.Split(m.file)
		if api := extensionDir.FindStringSubmatch(strings.TrimSuffix(dir, "/")); api != nil && strings.HasSuffix(name, ".so") {
			loaded[name] = true
			p.version = cmp.Or(apiVersions[api[1]], p.version)
		}
		if of := numbered.FindStringSubmatch(name); of != nil && p.version == "" {
			p.version = of[1]
		}
	}
	if len(loaded) == 0 {
		return p // it may have been built without any, with OPcache or xdebug as a part of it
	}
	p.xdebug = "off"
	if loaded["xdebug.so"] {
		p.xdebug = "loaded"
	}
	p.tellOPcache(loaded, maps)
	return p
}

// tellOPcache goes by the segment that all workers share. Swoole has shared memory of its own, which looks the same.
func (p *php) tellOPcache(loaded map[string]bool, maps []mapping) {
	const least = 8 << 20 // bytes, of opcache.memory_consumption
	var segment, executable uint64
	others := false
	for _, m := range maps {
		switch {
		case !m.shared || m.size < least && m.mode[2] != 'x':
		case !strings.HasPrefix(m.file, "/dev/zero"):
			others = others || strings.HasPrefix(m.file, "/SYSV") || strings.Contains(m.file, "ZendAccelerator")
		case m.mode[2] == 'x':
			executable += m.size
		default:
			segment += m.size
		}
	}
	switch {
	case !loaded["opcache.so"] && p.version != "8.5" && p.version != "": // since 8.5 it is a part of PHP
		p.opcache, p.jit = "off", "off"
	case others || loaded["swoole.so"] || loaded["openswoole.so"] || !loaded["opcache.so"]:
	case segment == 0:
		p.opcache, p.jit = "off", "off"
	default:
		p.opcache, p.opcacheMemory, p.jit = "on", strconv.FormatUint(segment>>20, 10), "off"
		if executable > 0 {
			p.jit = "buffer"
		}
	}
}
