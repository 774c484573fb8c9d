package brokertest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// link is a client's connection to the proxy, with the proxy's connection to the broker.
type link struct {
	broker         *Broker
	client, server net.Conn
	login          *conversation // login is nil after the login, or if no login is required
}

var errRequest = errors.New("cannot read the request")

// next answers one request.
func (l *link) next() error {
	frame, err := readFrame(l.client)
	if err != nil {
		return err
	}
	if len(frame) < 10 {
		return errRequest
	}
	key, version := int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))
	body := frame[10:]
	if n := int16(binary.BigEndian.Uint16(frame[8:])); n > 0 { // the client's name
		if int(n) > len(body) {
			return errRequest
		}
		body = body[n:]
	}
	request := kmsg.RequestForKey(key)
	if request == nil {
		return errRequest
	}
	request.SetVersion(version)
	if err := request.ReadFrom(body); err != nil {
		return err
	}
	response, err := l.answer(request)
	if err != nil {
		return err
	}
	correlation := frame[4:8]
	if response != nil {
		response.SetVersion(version)
		return writeFrame(l.client, response.AppendTo(append([]byte(nil), correlation...)))
	}
	if l.broker.cluster != nil {
		l.broker.cluster.note(request)
		header := frame[:len(frame)-len(body)]
		frame = request.AppendTo(header[:len(header):len(header)])
	}
	if err := writeFrame(l.server, frame); err != nil {
		return err
	}
	if produce, ok := request.(*kmsg.ProduceRequest); ok && produce.Acks == 0 {
		return nil
	}
	answer, err := readFrame(l.server)
	if err != nil {
		return err
	}
	if answer, err = l.redirect(request, answer); err != nil {
		return err
	}
	return writeFrame(l.client, answer)
}

// answer returns the response that replaces the broker's response. It returns nil if the broker must answer.
func (l *link) answer(request kmsg.Request) (kmsg.Response, error) {
	if l.login != nil {
		if request.Key() == int16(kmsg.ApiVersions) {
			return nil, nil
		}
		response, done, err := l.login.step(request)
		if done {
			l.login = nil
		}
		return response, err
	}
	l.broker.mu.Lock()
	answer := l.broker.answers[request.Key()]
	l.broker.mu.Unlock()
	if answer == nil {
		return nil, nil
	}
	return answer(request)
}

// redirect replaces the addresses in the broker's answer with the proxy's address. It then lets the cluster change the
// answer.
func (l *link) redirect(request kmsg.Request, answer []byte) ([]byte, error) {
	response := request.ResponseKind()
	switch response.(type) {
	case *kmsg.MetadataResponse, *kmsg.FindCoordinatorResponse, *kmsg.DescribeConfigsResponse:
	default:
		return answer, nil
	}
	response.SetVersion(request.GetVersion())
	if err := response.ReadFrom(answer[4:]); err != nil {
		return nil, err
	}
	switch r := response.(type) {
	case *kmsg.MetadataResponse:
		for i := range r.Brokers {
			r.Brokers[i].Host, r.Brokers[i].Port = l.broker.host, l.broker.port
		}
	case *kmsg.FindCoordinatorResponse:
		r.Host, r.Port = l.broker.host, l.broker.port
	}
	if l.broker.cluster != nil {
		l.broker.cluster.tell(response)
	}
	return response.AppendTo(answer[:4:4]), nil
}

// maxFrame is larger than every request in the tests.
const maxFrame = 64 << 20

func readFrame(from net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > maxFrame {
		return nil, errRequest
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(from, frame)
	return frame, err
}

func writeFrame(to net.Conn, frame []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}
