package static

import "strings"

// copySuffixes are what editors, merges and packers append to the name of a file whose bytes they copy.
// Names such as User.php.html are not in it: coverage and documentation reports are made of them.
var copySuffixes = map[string]bool{
	"bak": true, "bk": true, "backup": true, "copy": true, "dist": true, "old": true, "orig": true, "rej": true,
	"save": true, "swo": true, "swp": true, "tmp": true,
	"br": true, "bz2": true, "gz": true, "xz": true, "zst": true,
}

// isSource reports whether name is that of PHP code, in any case, or of a copy of it. Everything that
// begins with php counts (php5, php7, phps, php~, php_old), as do the names that Debian's and Drupal's
// configurations for Apache give to PHP or close: pht, phtm, phtml, phar, inc.
//
// A source that exists is refused. One that does not is left to the application: routes such as
// /old-page.php are how sites moved to Laravel keep their links.
func isSource(name string) bool {
	b := base(name)
	for {
		b = strings.TrimRight(b, "~")
		dot := strings.LastIndexByte(b, '.')
		if dot < 0 {
			return false
		}
		ext := lower(b[dot+1:])
		switch {
		case strings.HasPrefix(ext, "php"):
			return true
		case ext == "phar", ext == "pht", ext == "phtm", ext == "phtml", ext == "inc":
			return true
		case !copySuffixes[ext]:
			return false
		}
		b = b[:dot]
	}
}
