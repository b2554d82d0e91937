import { Argument, type Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { standardOutput } from '../../terminal/told.ts'

export function addCompletion(program: Command): void {
  const command = program
    .command('completion')
    .description('print what lets a shell complete the commands')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionFor, vocabularyOf } = await import('../completion.ts')
      standardOutput().say(completionFor(shell, vocabularyOf(program)))
    })
  withExample(
    command,
    'source <(drawbridge completion bash)',
    'drawbridge completion zsh > ~/.zfunc/_drawbridge',
    'drawbridge completion fish > ~/.config/fish/completions/drawbridge.fish',
  )
}
