// Reads and writes JSON with protojson, for tests. The argument is the file of a FileDescriptorSet. Each line of input is a verb,
// the full name of a message type, and bytes in base64:
//
//	read TYPE JSON      answers the message in binary
//	write TYPE BINARY   answers its JSON, with the names of the proto
//
// Each answer is a line: "ok" and bytes in base64, or "refused" and the error.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func main() {
	types, err := loadTypes(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if answer, err := exchange(types, strings.Split(strings.TrimSuffix(line, "\n"), " ")); err != nil {
			fmt.Fprintf(out, "refused %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Fprintf(out, "ok %s\n", base64.StdEncoding.EncodeToString(answer))
		}
		if lines.Buffered() == 0 {
			out.Flush()
		}
	}
}

func loadTypes(path string) (*dynamicpb.Types, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewTypes(files), nil
}

func exchange(types *dynamicpb.Types, words []string) ([]byte, error) {
	if len(words) != 3 {
		log.Fatalf("the line has %d words; a verb, a type and bytes are expected", len(words))
	}
	messageType, err := types.FindMessageByName(protoreflect.FullName(words[1]))
	if err != nil {
		log.Fatal(err)
	}
	bytes, err := base64.StdEncoding.DecodeString(words[2])
	if err != nil {
		log.Fatal(err)
	}
	message := messageType.New().Interface()
	switch words[0] {
	case "read":
		if err := (protojson.UnmarshalOptions{Resolver: types}).Unmarshal(bytes, message); err != nil {
			return nil, err
		}
		return proto.MarshalOptions{Deterministic: true}.Marshal(message)
	case "write":
		if err := (proto.UnmarshalOptions{Resolver: types}).Unmarshal(bytes, message); err != nil {
			return nil, err
		}
		return protojson.MarshalOptions{Resolver: types, UseProtoNames: true}.Marshal(message)
	default:
		log.Fatalf("there is no verb %s; there are read and write", words[0])
		return nil, nil
	}
}
