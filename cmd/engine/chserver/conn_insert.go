package chserver

// answerInsert collects the blocks of an INSERT, then runs it.
func (c *conn) answerInsert(st *statement, q *query) (figures, error) {
	in, err := c.session.beginInsert(st.insert, q, c.server.cfg.MaxInsert, &c.server.inserts)
	if err != nil {
		return figures{}, err
	}
	defer func() { _ = in.close() }() // closing a file in memory does not fail
	if err := c.block(in.header()); err != nil {
		return figures{}, err
	}
	if err := c.flush(); err != nil {
		return figures{}, err
	}
	for {
		b, err := c.readData()
		if err != nil {
			return figures{}, err
		}
		if b == nil {
			return figures{}, errCancelled
		}
		if len(b.columns) == 0 {
			break
		}
		if err := in.add(b); err != nil {
			return figures{}, broken(err) // this ends the connection, because more rows are still arriving
		}
	}
	defer c.watch()()
	return in.run(q)
}

// readData reads a Data packet. It returns nil for a Cancel. The block is valid until the next call.
func (c *conn) readData() (*block, error) {
	code, err := c.in.uvarint()
	if err != nil {
		return nil, broken(err)
	}
	switch code {
	case clientCancel:
		return nil, nil
	case clientData:
	default:
		return nil, broken(refuse(codeUnexpectedPacket, "Unexpected packet %d from client: Data was expected", code))
	}
	if _, err := readDataName(c.in); err != nil {
		return nil, broken(err)
	}
	more := c.plainIn.next
	if c.compressed {
		more = c.readFrame
	}
	src := &source{buf: c.blockBytes[:0], limit: int(c.server.cfg.MaxInsert), more: func(buf []byte, missing int) ([]byte, error) {
		if err := c.blockShare.cover(int64(len(buf) + missing - keptBlock)); err != nil {
			return buf, err
		}
		return more(buf, missing)
	}}
	b, err := readBlock(src, onWire)
	c.blockBytes = src.buf
	if err != nil {
		return nil, broken(err)
	}
	unused := len(src.buf) - src.pos
	if !c.compressed {
		return b, broken(c.plainIn.giveBack(unused))
	}
	if unused > 0 { // a block must end where a frame ends
		return nil, broken(refuse(codeBadData, "%d extra bytes follow a block", unused))
	}
	return b, nil
}

// keptBlock is the maximum size of a block buffer that a connection reuses for the next statement.
const keptBlock = 4 << 20

// dropBlock frees the memory of a statement's blocks.
func (c *conn) dropBlock() {
	if cap(c.blockBytes) > keptBlock {
		c.blockBytes = nil
	}
	c.blockShare.release()
}

func (c *conn) readFrame(buf []byte, _ int) ([]byte, error) { return c.frames.next(buf) }
