// pyroscope_sink takes pushes of profiles as Pyroscope does, by the handler that is generated from
// its API, and prints each series as a line of JSON. It prints its port first.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"connectrpc.com/connect"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
)

type series struct {
	Labels   map[string]string
	Profiles [][]byte
}

type pusher struct{}

func (pusher) Push(_ context.Context, request *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, pushed := range request.Msg.Series {
		found := series{Labels: map[string]string{}}
		for _, label := range pushed.Labels {
			found.Labels[label.Name] = label.Value
		}
		if found.Labels["service_name"] == "unwanted" {
			return nil, connect.NewError(connect.CodeUnauthenticated, fmt.Errorf("no such team"))
		}
		for _, sample := range pushed.Samples {
			found.Profiles = append(found.Profiles, sample.RawProfile)
		}
		if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	log.Fatal(http.Serve(listener, mux))
}
