package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

const (
	// mappedID is root's user id inside the user namespace. Any id except 0 works.
	mappedID = 1000
	// nobody is the user id for Postgres if octavo runs as root and the system
	// allows no user namespaces.
	nobody = 65534
)

// identity is the user that runs Postgres. Postgres refuses root.
type identity struct {
	// namespace is set if root runs Postgres in a user namespace that maps root to another id. The owner of the files
	// does not change, and Postgres may enter folders that only root may enter.
	namespace bool
	// user is an ordinary user of the system, or nil to run as this process's
	// user.
	user *syscall.Credential
	// major is the binary's major version. The method `try` sets it.
	major string
}

func (i identity) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Credential: i.user}
	if i.namespace {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: mappedID, HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: mappedID, HostID: os.Getgid(), Size: 1}}
	}
	return attributes
}

// own changes a file's owner to the user that runs Postgres. If this process's user runs Postgres, `own` does nothing.
func (i identity) own(path string) error {
	if i.user == nil {
		return nil
	}
	if err := os.Chown(path, int(i.user.Uid), int(i.user.Gid)); err != nil {
		return fmt.Errorf("cannot give %s to the user that runs Postgres: %w", path, err)
	}
	return nil
}

// chooseIdentity finds a user that can run the postgres binary and use the folder `dir`. For an existing cluster, it
// chooses the owner of the cluster.
func chooseIdentity(ctx context.Context, postgres, dir, dataDir string) (identity, error) {
	var who identity
	if os.Geteuid() == 0 {
		owner, err := ownerOf(dataDir)
		if err != nil {
			return identity{}, err
		}
		if owner != nil {
			who.user = owner
		} else {
			who.namespace = true
		}
	}
	err := who.try(ctx, postgres)
	if who.namespace && errors.Is(err, errNamespace) {
		if _, statErr := os.Stat(dataDir); statErr == nil {
			return identity{}, fmt.Errorf("cannot run Postgres on %s, which belongs to root: Postgres refuses to run as root, and %w: "+
				"run octavo as an ordinary user after `chown -R` of its data directory, or allow user namespaces", dataDir, err)
		}
		who = identity{user: &syscall.Credential{Uid: nobody, Gid: nobody}}
		err = who.try(ctx, postgres)
	}
	if err != nil {
		return identity{}, err
	}
	if who.user != nil {
		if err := reachable(dir, who.user); err != nil {
			return identity{}, err
		}
	}
	return who, nil
}

// ownerOf returns the owner of a data directory. It returns nil if the directory is absent or belongs to root.
func ownerOf(dataDir string) (*syscall.Credential, error) {
	info, err := os.Stat(dataDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot inspect the Postgres data directory: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return nil, nil
	}
	return &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}, nil
}

var (
	errNamespace = errors.New("this system does not let root create user namespaces")
	versionText  = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)
)

// try runs the binary with --version. It fails if the system does not allow the identity, or if the binary or its
// libraries do not work.
func (i *identity) try(ctx context.Context, postgres string) error {
	cmd := exec.CommandContext(ctx, postgres, "--version")
	cmd.SysProcAttr = i.attributes()
	cmd.Dir = "/"
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return fmt.Errorf("cannot run %s: %w: %s (run `make engines` to install it again)", postgres, err, strings.TrimSpace(string(output)))
	case i.namespace && refused(err):
		return fmt.Errorf("%w (%w)", errNamespace, err)
	case i.user != nil && errors.Is(err, os.ErrPermission):
		return fmt.Errorf("cannot run %s as user %d, who may not enter its folder: %w (Postgres refuses to run as root and this system does not let root "+
			"create user namespaces: run octavo as an ordinary user, or move its folder to where every user may enter)", postgres, i.user.Uid, err)
	default:
		return fmt.Errorf("cannot run %s: %w (run `make engines` to install it again)", postgres, err)
	}
	match := versionText.FindSubmatch(output)
	if match == nil {
		return fmt.Errorf("cannot tell the version of %s from %q (run `make engines` to install it again)", postgres, output)
	}
	i.major = string(match[1])
	return nil
}

// refused reports whether err is an error with which kernels, containers or security modules deny a user namespace.
func refused(err error) bool {
	for _, code := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EINVAL, syscall.EUSERS, syscall.ENOSYS} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// reachable checks that a user may enter every folder on the path to `dir`. Postgres's own error would only be
// "permission denied". `reachable` makes `dir` itself searchable for everyone, but not the files in it.
func reachable(dir string, user *syscall.Credential) error {
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("cannot let Postgres's user enter %s: %w", dir, err)
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("cannot inspect %s: %w", at, err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		var bit os.FileMode = 0o001
		switch {
		case stat.Uid == user.Uid:
			bit = 0o100
		case stat.Gid == user.Gid:
			bit = 0o010
		}
		if info.Mode().Perm()&bit == 0 {
			return fmt.Errorf("cannot run Postgres as user %d: it may not enter %s (Postgres refuses to run as root: run octavo as an ordinary user, "+
				"or choose a data directory that every user may reach)", user.Uid, at)
		}
	}
	return nil
}
