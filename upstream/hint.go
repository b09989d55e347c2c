package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// hint says what an operator can do about a unix socket that cannot be dialled, or nothing.
func hint(addr string, err error) string {
	path, ok := strings.CutPrefix(addr, "unix:")
	switch {
	case !ok:
		return ""
	case errors.Is(err, fs.ErrNotExist):
		return missing(path)
	case errors.Is(err, fs.ErrPermission):
		return denied(path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens on this socket any more; start its server"
	}
	return ""
}

func missing(path string) string {
	what := "the socket"
	if dir := filepath.Dir(path); !exists(dir) {
		what = "the folder " + dir
	}
	return what + " is not there; start its server, or compare the path with listen of PHP-FPM's pool"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// denied names who asks and who may.
func denied(path string) string {
	us := userName(uint32(os.Geteuid()))
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Sprintf("user %s may not enter the folder %s; let it, or move the socket", us, filepath.Dir(path))
	}
	socket, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	group := groupName(socket.Gid)
	return fmt.Sprintf("user %s may not write to this socket, which has owner %s, group %s and mode %#o; "+
		"set listen.owner, listen.group or listen.mode of PHP-FPM's pool, or add the user to the group and restart the gateway",
		us, userName(socket.Uid), group, info.Mode().Perm())
}

func userName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}

func groupName(id uint32) string {
	number := strconv.FormatUint(uint64(id), 10)
	if g, err := user.LookupGroupId(number); err == nil {
		return g.Name
	}
	return number
}
