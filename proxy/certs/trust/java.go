package trust

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// javaPassword is what every Java's keystore of roots has, as they all come with it.
const javaPassword = "changeit"

// java is the keystore of a Java.
type java struct {
	keytool, keystore string
}

// findJava takes the Java that the environment names, else the one of PATH.
func findJava(home string) (Store, bool) {
	if home == "" {
		path, err := exec.LookPath("keytool")
		if err != nil {
			return nil, false
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, false
		}
		home = filepath.Dir(filepath.Dir(path))
	}
	j := &java{keytool: filepath.Join(home, "bin", "keytool")}
	for _, name := range []string{"lib/security/cacerts", "jre/lib/security/cacerts"} {
		real, err := filepath.EvalSymlinks(filepath.Join(home, name))
		if err == nil {
			j.keystore = real
			return j, true
		}
	}
	return nil, false
}

func (j *java) Name() string { return "java " + j.keystore }

// aliases are the root's names in a keystore: ours, and that under which Debian copies the system's store to Java's.
// Debian's own tools leave it there when the root has left the system's.
func aliases(root Root) []string { return []string{root.alias(), "debian:" + root.alias() + ".pem"} }

func (j *java) run(ctx context.Context, alias string, args ...string) ([]byte, error) {
	return run(ctx, nil, j.keytool, append(args, "-keystore", j.keystore, "-storepass", javaPassword, "-alias", alias)...)
}

func (j *java) Has(ctx context.Context, root Root) (bool, error) {
	for _, alias := range aliases(root) {
		if has, err := j.hasAlias(ctx, alias); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func (j *java) hasAlias(ctx context.Context, alias string) (bool, error) {
	out, err := j.run(ctx, alias, "-list")
	if bytes.Contains(out, []byte("does not exist")) && !bytes.Contains(out, []byte("Keystore file")) {
		return false, nil
	}
	return err == nil, err
}

func (j *java) Add(ctx context.Context, root Root) error {
	copied, remove, err := copyOf(root)
	if err != nil {
		return err
	}
	defer remove()
	if err := writable(j.keystore); err != nil {
		return err
	}
	_, err = j.run(ctx, root.alias(), "-importcert", "-noprompt", "-file", copied)
	return err
}

func (j *java) Remove(ctx context.Context, root Root) error {
	for _, alias := range aliases(root) {
		has, err := j.hasAlias(ctx, alias)
		if err == nil && has {
			if err = writable(j.keystore); err == nil {
				_, err = j.run(ctx, alias, "-delete")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyOf puts the certificate, which is no secret, where another user's program can read it.
func copyOf(root Root) (file string, remove func(), err error) {
	f, err := os.CreateTemp("", "gateway-root-*.pem")
	if err != nil {
		return "", nil, err
	}
	// What cannot be removed is a public file among the temporary ones.
	remove = func() { _ = os.Remove(f.Name()) }
	err = errors.Join(f.Chmod(0o644), pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate.Raw}), f.Close())
	if err != nil {
		remove()
		return "", nil, err
	}
	return f.Name(), remove, nil
}
