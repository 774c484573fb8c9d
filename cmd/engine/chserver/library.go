package chserver

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is libchdb.so, with one field for each C function in use. Handles are
// opaque addresses owned by the library.
type library struct {
	connect      func(argc int32, argv unsafe.Pointer) uintptr
	closeConn    func(conn uintptr)
	query        queryFunc
	stream       queryFunc
	streamFetch  func(conn, stream uintptr) uintptr
	streamCancel func(conn, stream uintptr)
	destroy      func(result uintptr)
	buffer       func(result uintptr) unsafe.Pointer
	length       func(result uintptr) uintptr
	storageRows  func(result uintptr) uint64
	storageBytes func(result uintptr) uint64
	err          func(result uintptr) unsafe.Pointer
}

// queryFunc is chdb_query_with_params_n or its streaming counterpart. Every
// text is passed with its length, so it may contain NUL bytes.
type queryFunc func(conn uintptr, query unsafe.Pointer, queryLen uintptr, format unsafe.Pointer, formatLen uintptr,
	names, nameLens, values, valueLens unsafe.Pointer, count uintptr) uintptr

// anchor is a function of the library. Its address shows where the library was loaded.
const anchor = "chdb_connect"

// openLibrary loads the engine into this process. The engine cannot be unloaded.
func openLibrary(path string) (*library, error) {
	// The reason of a failure is stored in the thread on which it happened.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("cannot load the engine library %s: %w", path, err)
	}
	lib := &library{}
	for _, symbol := range []struct {
		fn   any
		name string
	}{
		{&lib.connect, anchor},
		{&lib.closeConn, "chdb_close_conn"},
		{&lib.query, "chdb_query_with_params_n"},
		{&lib.stream, "chdb_stream_query_with_params_n"},
		{&lib.streamFetch, "chdb_stream_fetch_result"},
		{&lib.streamCancel, "chdb_stream_cancel_query"},
		{&lib.destroy, "chdb_destroy_query_result"},
		{&lib.buffer, "chdb_result_buffer"},
		{&lib.length, "chdb_result_length"},
		{&lib.storageRows, "chdb_result_storage_rows_read"},
		{&lib.storageBytes, "chdb_result_storage_bytes_read"},
		{&lib.err, "chdb_result_error"},
	} {
		address, err := purego.Dlsym(handle, symbol.name)
		if err != nil {
			return nil, fmt.Errorf("cannot use the engine library %s: %w", path, err)
		}
		purego.RegisterFunc(symbol.fn, address)
		if symbol.name == anchor {
			if err := checkWrites(path, anchor, address); err != nil {
				return nil, err
			}
		}
	}
	return lib, nil
}

// open opens an engine connection. The first connection of the process starts the engine with args. For later
// connections the library ignores all args except --path, which must be equal.
func (l *library) open(args []string) (*engineConn, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	argv := make([]unsafe.Pointer, len(args)+1) // ends with NULL, like main's argv
	for i, arg := range args {
		text := append([]byte(arg), 0)
		pin.Pin(&text[0])
		argv[i] = unsafe.Pointer(&text[0])
	}
	pin.Pin(&argv[0])
	handle := l.connect(int32(len(args)), unsafe.Pointer(&argv[0]))
	if handle == 0 {
		return nil, errors.New("cannot open an engine connection: the library's reason, if any, is in a line above")
	}
	return &engineConn{lib: l, handle: handle}, nil
}

// engineConn is a chdb_connection: a separate session inside the engine. It
// runs one statement at a time and is not safe for concurrent use.
type engineConn struct {
	lib    *library
	handle uintptr // a chdb_connection*: the address of a pointer, which conn reads
}

func (c *engineConn) close() {
	c.lib.closeConn(c.handle)
	c.handle = 0
}

// conn reads the connection's pointer again at each call, because the library may move the connection.
func (c *engineConn) conn() uintptr {
	return *(*uintptr)(foreign(c.handle))
}

// param is a typed parameter of a statement: its name, and its value as text with the TSV escapes that the engine
// expects.
type param struct{ name, value string }

// call runs `text` with parameters that are valid for this call only.
func (c *engineConn) call(fn queryFunc, text, format string, params []param) (*result, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	n := len(params)
	pointers, lengths := make([]unsafe.Pointer, 2*n+1), make([]uintptr, 2*n+1)
	for i, p := range params {
		pointers[i], lengths[i] = cText(&pin, p.name)
		pointers[n+i], lengths[n+i] = cText(&pin, p.value)
	}
	pin.Pin(&pointers[0])
	pin.Pin(&lengths[0])
	query, queryLen := cText(&pin, text)
	form, formLen := cText(&pin, format)
	res := fn(c.conn(), query, queryLen, form, formLen,
		unsafe.Pointer(&pointers[0]), unsafe.Pointer(&lengths[0]),
		unsafe.Pointer(&pointers[n]), unsafe.Pointer(&lengths[n]), uintptr(n))
	return c.wrap(res)
}

// cText pins a text for the duration of a call. The pointer to an empty text is also valid.
func cText(pin *runtime.Pinner, text string) (unsafe.Pointer, uintptr) {
	if text == "" {
		return unsafe.Pointer(unsafe.StringData("\x00")), 0 // static data needs no pin
	}
	data := unsafe.StringData(text)
	pin.Pin(data)
	return unsafe.Pointer(data), uintptr(len(text))
}

// wrap takes ownership of a result handle. It destroys an error result and
// returns the error.
func (c *engineConn) wrap(handle uintptr) (*result, error) {
	if handle == 0 {
		return nil, &exception{code: codeUnknown, name: "DB::Exception", message: "the engine returned no result"}
	}
	if text := c.lib.err(handle); text != nil {
		message := cString(text)
		c.lib.destroy(handle)
		return nil, parseException(message)
	}
	return &result{conn: c, handle: handle}, nil
}

// result owns one chdb_result. Its bytes are valid until close.
type result struct {
	conn   *engineConn
	handle uintptr
}

func (r *result) close() {
	if r.handle != 0 {
		r.conn.lib.destroy(r.handle)
		r.handle = 0
	}
}

// bytes returns the library's memory. It is valid until close and must not be
// modified.
func (r *result) bytes() []byte {
	n := r.conn.lib.length(r.handle)
	data := r.conn.lib.buffer(r.handle)
	if data == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(data), n)
}

// foreign converts an address from C to a pointer. The memory is not Go's, so neither the collector nor stack moves
// affect it.
func foreign(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

func cString(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
