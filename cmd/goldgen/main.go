// Command goldgen makes golden sets for retrieval evaluation from a corpus and
// scores retrievers over them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	cobra.EnableCommandSorting = false // help lists the stages in their order
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], system())
	stop()
	os.Exit(code)
}
