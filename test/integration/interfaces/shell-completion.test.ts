import { execFileSync } from 'node:child_process'
import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { completionFor, vocabularyOf } from '../../../src/cli/completion/scripts.ts'
import { commandLine } from '../../../src/compose/command-line.ts'

describe('shell completion', () => {
  const offered = (...words: string[]): string[] => {
    const script = completionFor('bash', vocabularyOf(commandLine()))
    const asked = words.map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(drawbridge ${asked}); COMP_CWORD=${words.length}; _drawbridge; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
      .trim()
      .split(' ')
  }

  test('offers commands, subcommands, options and choices in bash', () => {
    expect(offered('sta')).toEqual(['status'])
    expect(offered('backups', 're')).toEqual(['restore'])
    expect(offered('up', 'hello', '--exp')).toEqual(['--expires-in'])
    expect(offered('repair', 'hello', '--ov')).toEqual(['--overwrite'])
    expect(offered('acc')).toEqual(['accept'])
    expect(offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
    expect(offered('audit', '')).toContain('verify')
  })

  test('offers the hosts and plans that the service tells', () => {
    const script = completionFor('bash', vocabularyOf(commandLine()))
    const told = 'drawbridge() { echo "once for $2"; }'
    const ask = `COMP_WORDS=(drawbridge remove ""); COMP_CWORD=2; _drawbridge; echo \${COMPREPLY[@]}`
    const shown = execFileSync('bash', ['-c', `${told}\n${script}\n${ask}`], { encoding: 'utf8' })
    // One process for both: to start it takes longer than the answer.
    expect(shown).toMatch(/ once for hosts-and-plans$/m)
    expect(shown.match(/once/g)).toHaveLength(1)
    expect(script).not.toContain('complete -c')
  })

  test('asks by what was typed, and completes the values of options', () => {
    const script = completionFor('bash', vocabularyOf(commandLine()))
    const told = 'drawbridge() { echo "$2-$3" >&2; [ "$2" = servers ] && echo 25 253; }'
    const offered = (...words: string[]) => {
      const asked = words.map((word) => `'${word}'`).join(' ')
      const ask = `COMP_WORDS=(drawbridge ${asked}); COMP_CWORD=${words.length}; _drawbridge 2>/dev/null; echo "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', `${told}\n${script}\n${ask}`], { encoding: 'utf8' }).trim()
    }
    expect(offered('up', 'hello', '--server', '25')).toBe('25 253')
    expect(offered('extend', 'hello', '--for', '')).toBe('30m 2h 1d 7d')
    expect(offered('wait', 'hello', '--for', 'R')).toBe('RUNNING')
    expect(offered('status', '-o', 'n')).toBe('name')
    expect(offered('status', '--output', 'w')).toBe('wide')
    expect(offered('doctor', '--config', 'package.j')).toBe('package.json')
    expect(script).toContain('drawbridge complete hosts "$current" 2>/dev/null')
  })

  test('quotes the same words for zsh and fish', () => {
    const entries = vocabularyOf(new Command('drawbridge').addCommand(new Command('up').description("a person's word")))
    expect(completionFor('zsh', entries)).toContain("'up:a person’s word'")
    expect(completionFor('fish', entries)).toContain("-a up -d 'a person’s word'")
  })
})
