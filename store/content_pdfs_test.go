package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/octavo-docs/octavo/schema"
	"github.com/octavo-docs/octavo/store"
	"github.com/octavo-docs/octavo/store/storetest"
)

// TestPDFsAreKeptForAWhile writes a PDF of several chunks by two concurrent attempts. The PDF must be readable until it
// is old.
func TestPDFsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	st := storetest.Open(t, url)
	tenant := storetest.NewTenant(t, st, "ours")
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	space, key := tenant.Space.ID, "key"
	if _, job, err := st.AskPDF(t.Context(), tenant.Organization.ID, store.PDF{SpaceID: space, Revision: tenant.Space.Revision}, key); err != nil || job == "" {
		t.Fatal(job, err)
	}
	want := bytes.Repeat([]byte("0123456789abcdef"), 150_000)
	write := func(out io.Writer) error {
		_, err := io.Copy(out, bytes.NewReader(want))
		return err
	}
	failed := errors.New("no ink")
	if err := st.WritePDF(t.Context(), space, key, func(out io.Writer) error { return errors.Join(write(out), failed) }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	// The second attempt starts while the first attempt writes.
	err = st.WritePDF(t.Context(), space, key, func(out io.Writer) error {
		if err := st.WritePDF(t.Context(), space, key, write); err != nil {
			return err
		}
		_, err := io.WriteString(out, "late")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := st.PDF(t.Context(), space, key)
	if err != nil || found.Size != int64(len(want)) {
		t.Fatalf("%+v %v", found, err)
	}
	if got, err := io.ReadAll(st.ReadPDF(t.Context(), found)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	contents := func() (n int) {
		if err := conn.QueryRow(t.Context(), "select count(*) from pdf_contents").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := contents(); n != 1 {
		t.Errorf("%d contents are kept", n)
	}
	age := func(statement string) {
		if _, err := st.DeleteOldPDFs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := st.PDF(t.Context(), space, key); err != nil || contents() != 1 {
			t.Errorf("before %s: %v", statement, err)
		}
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	age("update pdf_contents set begun_at = now() - interval '3 hours'")
	age("update pdfs set used_at = now() - interval '25 hours'")
	if _, err := st.DeleteOldPDFs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := st.PDF(t.Context(), space, key); !schema.IsCode(err, schema.CodeNotFound) || contents() != 0 {
		t.Errorf("%v, %d contents", err, contents())
	}
}
