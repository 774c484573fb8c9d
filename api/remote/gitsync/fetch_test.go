package gitsync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/octavo-docs/octavo/api/remote/gitsync/gitsynctest"
	"github.com/octavo-docs/octavo/api/remote/outbound"
)

const lfsPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// contents returns the contents of all files of a snapshot, by their paths.
func contents(t *testing.T, s *Snapshot) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, file := range s.Files {
		content, err := s.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(content)) != file.Size {
			t.Errorf("%s: %d bytes, announced %d", file.Path, len(content), file.Size)
		}
		got[file.Path] = string(content)
	}
	return got
}

func TestFetch(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"true", "false"} {
		t.Run("uploadpack.allowFilter="+filter, func(t *testing.T) {
			t.Parallel()
			f := gitsynctest.New(t)
			f.Repository("a/b.git", "uploadpack.allowFilter="+filter)
			first := f.Files("a/b.git", "main", map[string]string{"old.md": "old"})
			page, huge := f.Blob("a/b.git", "# Page\n"), f.Blob("a/b.git", strings.Repeat("huge", 30_000))
			folder := f.Tree("a/b.git", gitsynctest.Entry("100644", "page.md", page), gitsynctest.Entry("100644", "π 日本.md", page))
			tip := f.Commit("a/b.git", "main", f.Tree("a/b.git",
				gitsynctest.Entry("100644", ".gitbook.yaml", f.Blob("a/b.git", "root: docs\n")), gitsynctest.Entry("100644", "empty", f.Blob("a/b.git", "")),
				gitsynctest.Entry("100644", "huge.bin", huge), gitsynctest.Entry("120000", "link", f.Blob("a/b.git", "/etc/passwd")), gitsynctest.Entry("100644", "photo.png", f.Blob("a/b.git", lfsPointer)),
				gitsynctest.Entry("100755", "run.sh", f.Blob("a/b.git", "#!/bin/sh\n")), gitsynctest.Entry("160000", "vendored", first), gitsynctest.Entry("40000", "x", folder),
			), first)
			s := fetch(t, newClient(t, testLimits), remoteOf(f, "a/b.git", "main"))
			want := map[string]string{".gitbook.yaml": "root: docs\n", "empty": "", "run.sh": "#!/bin/sh\n", "x/page.md": "# Page\n", "x/π 日本.md": "# Page\n"}
			if diff := cmp.Diff(want, contents(t, s)); diff != "" || s.Commit != tip {
				t.Error(s.Commit, diff)
			}
			if diff := cmp.Diff([]Left{{"huge.bin", LeftLarge}, {"link", LeftSymlink}, {"photo.png", LeftLFS}, {"vendored", LeftSubmodule}}, s.Left); diff != "" {
				t.Error(diff)
			}
			if s.Files[2].Path != "run.sh" || !s.Files[2].Executable || s.Files[0].Executable || s.Files[3].Blob != page {
				t.Errorf("%+v", s.Files)
			}
			if _, ok := s.packs.find(plumbingHash(first)); ok {
				t.Error("the history was fetched too")
			}
		})
	}
}

// TestHostileNames checks that entries are left out if their names could escape a folder or collide. Left names these
// entries. All other entries are read.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	blob := f.Blob("a.git", "x")
	inner := f.Tree("a.git", gitsynctest.Entry("100644", "page.md", blob))
	deep := f.Tree("a.git", gitsynctest.Entry("100644", "bottom", blob))
	for range 20 {
		deep = f.Tree("a.git", gitsynctest.Entry("40000", "d", deep))
	}
	client := newClient(t, testLimits)
	for i, test := range []struct {
		entries []gitsynctest.TreeEntry
		left    []Left
	}{
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", "..", inner)}, []Left{{"..", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "..", blob)}, []Left{{"..", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".", inner)}, []Left{{".", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "../../etc/passwd", blob)}, []Left{{"../../etc/passwd", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "/etc/passwd", blob)}, []Left{{"/etc/passwd", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "a/b", blob)}, []Left{{"a/b", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", `..\..\a`, blob)}, []Left{{`..\..\a`, LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "a\nb", blob)}, []Left{{"a\nb", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "\xff", blob)}, []Left{{"\xff", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".git", inner)}, []Left{{".git", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".GiT", inner)}, []Left{{".GiT", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".git.", inner)}, []Left{{".git.", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".git . ", inner)}, []Left{{".git . ", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".git::$INDEX_ALLOCATION", inner)}, []Left{{".git::$INDEX_ALLOCATION", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", "GIT~1", inner)}, []Left{{"GIT~1", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", ".g\u200cit", inner)}, []Left{{".g\u200cit", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", "\ufeff.git", inner)}, []Left{{"\ufeff.git", LeftName}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "ok", blob)}, []Left{{"ok", LeftDuplicate}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", "ok", inner)}, []Left{{"ok", LeftDuplicate}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "OK", blob)}, []Left{{"OK", LeftCase}}},
		// U+212A is the KELVIN SIGN, whose lower case is k
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "o\u212a", blob)}, []Left{{"o\u212a", LeftCase}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", strings.Repeat("n", 201), blob)}, []Left{{strings.Repeat("n", 201), LeftPath}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("40000", "d", deep)}, []Left{{strings.Repeat("d/", 16) + "d", LeftPath}}},
		{[]gitsynctest.TreeEntry{gitsynctest.Entry("100644", ".gitignore", blob), gitsynctest.Entry("100644", "git", blob)}, nil},
	} {
		branch := fmt.Sprint("b", i)
		f.Commit("a.git", branch, f.Tree("a.git", append([]gitsynctest.TreeEntry{gitsynctest.Entry("100644", "ok", blob)}, test.entries...)...))
		s := fetch(t, client, remoteOf(f, "a.git", branch))
		if diff := cmp.Diff(test.left, s.Left); diff != "" || len(s.Files) == 0 || s.Files[0].Path != "ok" {
			t.Errorf("%q: files %+v, left %s", test.entries[0].Name, s.Files, diff)
		}
		if len(test.left) > 0 && len(s.Files) != 1 {
			t.Errorf("%q: read %+v", test.entries[0].Name, s.Files)
		}
	}
}

// wantError checks the step and the reason of an error. It also checks that the error contains no text that users or
// logs must not see.
func wantError(t *testing.T, err error, step Step, reason *Reason) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Step != step || e.Reason != reason || !errors.Is(err, reason) {
		t.Errorf("got %v\nwant %s: %s\nchain %s", err, step, reason.Label, chain(err))
		return
	}
	// bWU6czNjcjN0 is me:s3cr3t in base64.
	if all := chain(err); strings.Contains(all, "s3cr3t") || strings.Contains(all, "bWU6czNjcjN0") {
		t.Errorf("the error has the password: %s", all)
	}
}

// TestTimeOutsOfPacksAreFinal checks which time-outs are final. If fetching or reading a pack takes too long, a job
// does not retry it. A job does retry connections and pushes.
func TestTimeOutsOfPacksAreFinal(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := receive(late, t.TempDir(), bytes.NewReader(manyDeltas(1)), testLimits, nil)
	wantError(t, err, StepRead, TimedOut)
	for _, cause := range []error{context.DeadlineExceeded, &outbound.Error{Reason: outbound.TimedOut}, err} {
		for _, step := range []Step{
			StepResolve, StepConnect, StepAuthenticate, StepFindRef, StepFetch, StepRead, StepPush,
		} {
			e, ok := errors.AsType[*Error](explain(step, cause))
			if !ok || e.Reason != TimedOut {
				t.Fatalf("%s: %v", step, e)
			}
			if want := e.Step != StepFetch && e.Step != StepRead; e.Retryable() != want {
				t.Errorf("%s: retryable %t", e.Step, e.Retryable())
			}
		}
	}
}

func TestFetchFails(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	f.Repository("empty.git")
	f.Files("a.git", "main", map[string]string{"a.md": "a"})
	backend := f.Backend()
	echo := func(w http.ResponseWriter, r *http.Request, status int) {
		http.Error(w, "you sent "+r.Header.Get("Authorization"), status)
	}
	f.Before = func(w http.ResponseWriter, r *http.Request) bool {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		advertised := strings.HasSuffix(rest, "/info/refs")
		query := "/" + rest + "?" + r.URL.RawQuery
		switch kind {
		case "page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>"+r.Header.Get("Authorization"))
		case "noise":
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = io.WriteString(w, "noise "+r.Header.Get("Authorization"))
		case "broken":
			echo(w, r, http.StatusInternalServerError)
		case "busy":
			echo(w, r, http.StatusTooManyRequests)
		case "forbidden":
			echo(w, r, http.StatusForbidden)
		case "login":
			if user, password, _ := r.BasicAuth(); user == "me" && password == "s3cr3t" {
				http.StripPrefix("/login", backend).ServeHTTP(w, r)
				return true
			}
			w.Header().Set("WWW-Authenticate", "Basic")
			echo(w, r, http.StatusUnauthorized)
		case "private":
			http.Redirect(w, r, "http://10.0.0.1"+query, http.StatusFound)
		case "metadata":
			http.Redirect(w, r, "http://169.254.169.254"+query, http.StatusMovedPermanently)
		case "moved":
			http.Redirect(w, r, query, http.StatusFound)
		case "loop":
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		case "late": // the refs are correct, and the pack fails
			if advertised {
				http.StripPrefix("/late", backend).ServeHTTP(w, r)
				return true
			}
			echo(w, r, http.StatusBadGateway)
		case "cut":
			if !advertised {
				w = &cutWriter{w, 120}
			}
			http.StripPrefix("/cut", backend).ServeHTTP(w, r)
		case "denied":
			echo(w, r, http.StatusNotFound)
		default:
			return false
		}
		return true
	}
	client := newClient(t, testLimits)
	me := strings.Replace(f.HTTP.URL, "http://", "http://me:s3cr3t@", 1)
	for _, test := range []struct {
		url, ref string
		step     Step
		reason   *Reason
	}{
		{me + "/empty.git", "refs/heads/main", StepFindRef, EmptyRepository},
		{me + "/a.git", "refs/heads/other", StepFindRef, NoRef},
		{me + "/a.git", "HEAD", StepFindRef, NoRef},
		{me + "/none.git", "refs/heads/main", StepFindRef, NoRepository},
		{me + "/denied/a.git", "refs/heads/main", StepFindRef, NoRepository},
		{me + "/page/a.git", "refs/heads/main", StepConnect, NotGit},
		{me + "/noise/a.git", "refs/heads/main", StepConnect, NotGit},
		{me + "/broken/a.git", "refs/heads/main", StepConnect, ServerFailed},
		{me + "/busy/a.git", "refs/heads/main", StepConnect, ServerFailed},
		{me + "/forbidden/a.git", "refs/heads/main", StepAuthenticate, LoginRefused},
		{f.HTTP.URL + "/login/a.git", "refs/heads/main", StepAuthenticate, LoginRefused},
		{strings.Replace(me, "s3cr3t", "wrong", 1) + "/login/a.git", "refs/heads/main", StepAuthenticate, LoginRefused},
		{me + "/login/a.git", "refs/heads/main", "", nil},
		{me + "/moved/a.git/", "refs/heads/main", "", nil},
		{me + "/late/a.git", "refs/heads/main", StepFetch, ServerFailed},
		{me + "/cut/a.git", "refs/heads/main", StepFetch, Damaged},
		{me + "/private/a.git", "refs/heads/main", StepResolve, Unreachable},
		{me + "/metadata/a.git", "refs/heads/main", StepResolve, Unreachable},
		{me + "/loop/a.git", "refs/heads/main", StepConnect, Unreachable},
		{"http://me:s3cr3t@10.0.0.1/a.git", "refs/heads/main", StepResolve, Unreachable},
		// localhost may have the address ::1, which is not allowed; otherwise no server listens at port 80
		{"http://me:s3cr3t@localhost/a.git", "refs/heads/main", StepResolve, Unreachable},
		{"http://me:s3cr3t@2130706433/a.git", "refs/heads/main", StepResolve, Unreachable},
		{"http://me:s3cr3t@127.0.0.1:22/a.git", "refs/heads/main", StepResolve, Unreachable},
		{"ssh://me:s3cr3t@127.0.0.1/a.git", "refs/heads/main", StepResolve, Unreachable},
		{"file:///etc", "refs/heads/main", StepResolve, Unreachable},
		{"/etc", "refs/heads/main", StepResolve, Unreachable},
		{"http://me:s3cr3t@[::1/a.git", "refs/heads/main", StepResolve, Unreachable},
		{"http://me:s3cr3t@127.0.0.1:99999/a.git", "refs/heads/main", StepResolve, Unreachable},
	} {
		s, err := client.Fetch(t.Context(), Remote{URL: test.url, Ref: test.ref})
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if test.reason == nil {
			if err != nil {
				t.Errorf("%s: %v", test.url, chain(err))
			}
			continue
		}
		for _, inner := range []string{"10.0.0.1", "169.254"} {
			if !strings.Contains(test.url, inner) && strings.Contains(err.Error(), inner) {
				t.Errorf("%s: the message %q names where it was redirected to", test.url, err)
			}
		}
		if strings.Contains(test.url, "localhost") {
			if e, ok := errors.AsType[*Error](err); !ok || e.Reason != Unreachable {
				t.Errorf("%s: %v", test.url, err)
			}
			continue
		}
		t.Run(test.url[strings.LastIndex(test.url, "@")+1:], func(t *testing.T) { wantError(t, err, test.step, test.reason) })
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Fetch(canceled, remoteOf(f, "a.git", "main"))
	wantError(t, err, StepConnect, Canceled)
}

// cutWriter ends an answer early. The client cannot see that the answer is incomplete.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Write(data []byte) (int, error) {
	part := data[:min(w.left, len(data))]
	w.left -= len(part)
	if _, err := w.ResponseWriter.Write(part); err != nil {
		return 0, err
	}
	return len(data), nil
}

// TestRedirectKeepsTheLogin checks that the login is sent only to the repository's own origin.
func TestRedirectKeepsTheLogin(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	f.Files("a.git", "main", map[string]string{"a.md": "a"})
	var sent []string
	f.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		sent = append(sent, r.Header.Get("Authorization"))
		return false
	}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, f.HTTP.URL+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(old.Close)
	fetch(t, newClient(t, testLimits), Remote{URL: old.URL + "/a.git", Ref: "refs/heads/main", Username: "me", Password: "s3cr3t"})
	if !slices.Equal(sent, []string{"", ""}) {
		t.Errorf("sent %q to another origin", sent)
	}
}

// TestLimits checks each limit with a repository that exceeds the limit a little. The repository is refused before its
// objects are reconstructed.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(i*i>>7 ^ i*31>>3)
	}
	f.Commit("a.git", "large", f.Tree("a.git", gitsynctest.Entry("100644", "noise", f.Blob("a.git", string(noise)))))
	f.Commit("a.git", "zeros", f.Tree("a.git", gitsynctest.Entry("100644", "zeros", f.Blob("a.git", string(make([]byte, 3<<20))))))
	// This tree has ten folders, each with ten folders, and so on. It has eleven objects and ten billion files.
	bomb := f.Tree("a.git", gitsynctest.Entry("100644", "f", f.Blob("a.git", "x")))
	for range 10 {
		var entries []gitsynctest.TreeEntry
		for i := range 10 {
			entries = append(entries, gitsynctest.Entry("40000", fmt.Sprint("d", i), bomb))
		}
		bomb = f.Tree("a.git", entries...)
	}
	f.Commit("a.git", "bomb", bomb)
	for _, test := range []struct {
		name, branch string
		change       func(*Limits)
		step         Step
		reason       *Reason
	}{
		{"within", "large", func(*Limits) {}, "", nil},
		{"zeros within", "zeros", func(*Limits) {}, "", nil},
		{"pack", "large", func(l *Limits) { l.PackBytes = 10_000 }, StepFetch, TooLarge},
		{"pack, far above", "large", func(l *Limits) { l.PackBytes = 1 }, StepFetch, TooLarge},
		{"objects", "large", func(l *Limits) { l.Objects = 2 }, StepRead, TooLarge},
		{"object", "zeros", func(l *Limits) { l.ObjectBytes = 3<<20 - 1 }, StepRead, TooLarge},
		{"inflated", "zeros", func(l *Limits) { l.InflatedBytes = 3 << 20 }, StepRead, TooLarge},
		{"entries", "bomb", func(*Limits) {}, StepRead, TooLarge},
		{"refs", "large", func(l *Limits) { l.RefsBytes = 100 }, StepConnect, TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			limits := testLimits
			test.change(&limits)
			s, err := newClient(t, limits).Fetch(t.Context(), remoteOf(f, "a.git", test.branch))
			if test.reason != nil {
				wantError(t, err, test.step, test.reason)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		slow := gitsynctest.New(t)
		slow.Before = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
		limits := testLimits
		limits.Time = 100 * time.Millisecond
		_, err := newClient(t, limits).Fetch(t.Context(), remoteOf(slow, "a.git", "main"))
		wantError(t, err, StepConnect, TimedOut)
	})
	t.Run("time of a pack", func(t *testing.T) {
		t.Parallel()
		slow := gitsynctest.New(t)
		slow.Repository("a.git")
		slow.Files("a.git", "main", map[string]string{"a.md": "a"})
		slow.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				// A server notices that the connection has ended only after it has read the body.
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}
			return r.Method == http.MethodPost
		}
		limits := testLimits
		limits.Time = 100 * time.Millisecond
		client := newClient(t, limits)
		for {
			_, err := client.Fetch(t.Context(), remoteOf(slow, "a.git", "main"))
			if e, ok := errors.AsType[*Error](err); ok && e.Step == StepConnect && limits.Time < time.Minute {
				// On a busy machine, the time may have run out before the pack.
				limits.Time *= 2
				client = newClient(t, limits)
				continue
			}
			wantError(t, err, StepFetch, TimedOut)
			break
		}
	})
}

// TestManyFiles fetches a repository of 2,000 files with a history. The pack of the repository has deltas.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	want := map[string]string{}
	for i := range 2000 {
		want[fmt.Sprintf("part-%d/chapter-%d/page-%d.md", i%7, i%61, i)] = strings.Repeat("A line that many pages have.\n", 40) + fmt.Sprint("# Page ", i, "\n")
	}
	parent := f.Files("a.git", "main", map[string]string{"README.md": "first"})
	f.Files("a.git", "main", want, parent)
	f.Git("a.git", "", "gc", "--quiet")
	s := fetch(t, newClient(t, testLimits), remoteOf(f, "a.git", "main"))
	if diff := cmp.Diff(want, contents(t, s)); diff != "" || len(s.Left) > 0 {
		t.Error(diff, s.Left)
	}
}

// TestForcePush checks that a branch which was moved to an unrelated commit is fetched in the same way as any other
// branch.
func TestForcePush(t *testing.T) {
	t.Parallel()
	f := gitsynctest.New(t)
	f.Repository("a.git")
	client := newClient(t, testLimits)
	first := f.Files("a.git", "main", map[string]string{"a.md": "a"})
	before := fetch(t, client, remoteOf(f, "a.git", "main"))
	second := f.Files("a.git", "main", map[string]string{"b.md": "b"})
	after := fetch(t, client, remoteOf(f, "a.git", "main"))
	if before.Commit != first || after.Commit != second || len(after.Files) != 1 || after.Files[0].Path != "b.md" {
		t.Errorf("%s %+v, then %s %+v", before.Commit, before.Files, after.Commit, after.Files)
	}
	_, err := client.Push(t.Context(), remoteOf(f, "a.git", "main"), Commit{Parent: before, Changes: []Change{{Path: "a.md", Content: []byte("c")}}, Message: "m"})
	wantError(t, err, StepPush, RemoteMoved)
}
