// Package disk creates file systems for fault runs. A run can freeze a file system, fill it, and simulate a power cut
// of its disk. The package needs root. The only other package of this module that it may import is bench/witness.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octavo-docs/octavo/bench/witness"
)

// Disk is an ext4 file system whose device is a file. The file is on another file system, called the case. While the
// case is frozen, no write reaches the file. So a copy of the file is a snapshot of the device at one instant. Data
// that is not yet synced is only in the page cache of the inner file system, so the snapshot does not have it.
type Disk struct {
	Dir  string // folder for the images and the mount points; Make creates it
	Size int64  // size in bytes; the image file is sparse
	undo []func() error
}

func (d *Disk) caseImage() string { return filepath.Join(d.Dir, "case.img") }
func (d *Disk) caseDir() string   { return filepath.Join(d.Dir, "case") }
func (d *Disk) image() string     { return filepath.Join(d.caseDir(), "disk.img") }

// Root is the file system's mount point.
func (d *Disk) Root() string { return filepath.Join(d.Dir, "disk") }

// Make creates and mounts an empty disk.
func (d *Disk) Make(ctx context.Context) error {
	if err := d.mountCase(ctx); err != nil {
		return err
	}
	if err := sparse(d.image(), d.Size); err != nil {
		return err
	}
	if err := run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", d.image()); err != nil {
		return err
	}
	return d.mountDisk(ctx)
}

// Restore mounts a disk with the contents of a snapshot, which Keep took of another disk.
func (d *Disk) Restore(ctx context.Context, picture string) error {
	if err := d.mountCase(ctx); err != nil {
		return err
	}
	if err := copySparse(ctx, picture, d.image()); err != nil {
		return err
	}
	return d.mountDisk(ctx)
}

func (d *Disk) mountCase(ctx context.Context) error {
	for _, dir := range []string{d.Dir, d.caseDir(), d.Root()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot create a mount point: %w", err)
		}
	}
	// The case is larger than the device's file, because a file system also needs space for metadata.
	if err := sparse(d.caseImage(), d.Size+d.Size/8+(64<<20)); err != nil {
		return err
	}
	if err := run(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", d.caseImage()); err != nil {
		return err
	}
	return d.mount(ctx, d.caseImage(), d.caseDir())
}

func (d *Disk) mountDisk(ctx context.Context) error { return d.mount(ctx, d.image(), d.Root()) }

func (d *Disk) mount(ctx context.Context, image, at string) error {
	if err := run(ctx, "mount", "-t", "ext4", "-o", "loop", image, at); err != nil {
		return err
	}
	d.undo = append(d.undo, func() error { return unmount(context.WithoutCancel(ctx), at) })
	return nil
}

// unmount unmounts a file system. It retries, because killed processes may still have files open.
func unmount(ctx context.Context, at string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return witness.Await(ctx, func(ctx context.Context) error { return run(ctx, "umount", at) })
}

// Freeze stops all writes to the device, like a power cut. Processes may continue for a while, but the snapshot does
// not have their later writes.
func (d *Disk) Freeze(ctx context.Context) error {
	return run(ctx, "fsfreeze", "--freeze", d.caseDir())
}

// Keep copies the device to a file. The disk must be frozen.
func (d *Disk) Keep(ctx context.Context, picture string) error {
	return copySparse(ctx, d.image(), picture)
}

// Thaw ends the freeze, so that processes which wait for a write can exit.
func (d *Disk) Thaw(ctx context.Context) error {
	return run(ctx, "fsfreeze", "--unfreeze", d.caseDir())
}

// Fill creates a file that uses all free space. The function `free` removes this file.
func (d *Disk) Fill(ctx context.Context) (free func() error, err error) {
	filler := filepath.Join(d.Root(), "filler")
	f, err := os.Create(filler)
	if err != nil {
		return nil, fmt.Errorf("cannot fill the disk: %w", err)
	}
	for step := int64(64 << 20); step >= 4096; {
		info, err := f.Stat()
		if err == nil {
			err = unix.Fallocate(int(f.Fd()), 0, info.Size(), step)
		}
		switch {
		case errors.Is(err, unix.ENOSPC):
			step /= 2
		case err != nil || ctx.Err() != nil:
			return nil, errors.Join(fmt.Errorf("cannot fill the disk: %w", err), ctx.Err(), f.Close(), os.Remove(filler))
		}
	}
	if err := f.Close(); err != nil {
		return nil, errors.Join(err, os.Remove(filler))
	}
	return func() error { return os.Remove(filler) }, nil
}

// Unmount unmounts the disk and does not remove the images. To inspect them, mount case.img with a loop device, and
// then disk.img inside it.
func (d *Disk) Unmount() error {
	var errs []error
	for i := len(d.undo) - 1; i >= 0; i-- {
		errs = append(errs, d.undo[i]())
	}
	d.undo = nil
	return errors.Join(errs...)
}

// Close unmounts the disk and removes its images.
func (d *Disk) Close() error {
	if err := d.Unmount(); err != nil {
		return err // the images are still in use, so they must not be removed
	}
	if err := os.Remove(d.caseImage()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func sparse(path string, size int64) error {
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot create a disk image: %w", err)
	}
	return nil
}

func copySparse(ctx context.Context, from, to string) error {
	return run(ctx, "cp", "--sparse=always", from, to)
}

// run runs a system command. Its error includes the command's output. The command runs in a separate process group, so
// that Ctrl-C does not end it. Otherwise a file system could stay frozen.
func run(ctx context.Context, name string, arguments ...string) error {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}
