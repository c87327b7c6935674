package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newCompletion(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script of a shell", GroupID: groupOther,
		Long:      help("Prints the completion script of bash, zsh, fish or powershell.", codeDone, codeUsage),
		Example:   "  goldgen completion bash",
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usagef("%s: want one of %s", cmd.CommandPath(), strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.stdout)
			case "fish":
				return root.GenFishCompletion(a.stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.stdout)
			}
			return fmt.Errorf("no completion for %s", args[0])
		},
	}
}
