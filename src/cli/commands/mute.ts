import type { Command } from 'commander'
import { confirm, withExample } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { moment } from '../../terminal/text.ts'
import { type ApiOptions, apiClient, withApiOptions } from '../api-client.ts'
import { parseDuration } from '../duration.ts'
import { namedHost } from '../exposure-options.ts'

interface MuteOptions extends ApiOptions {
  readonly for?: string
  readonly note?: string
  readonly yes?: boolean
}

export function addMute(program: Command): void {
  const command = withApiOptions(program.command('mute <host>'))
    .description('stop alerts and webhooks about the trouble of a host, managed or not; it is still checked')
    .option('--for <duration>', 'how long, such as 2h or 7d (default: until drawbridge unmute)')
    .option('--note <text>', 'why, for others')
    .option('-y, --yes', 'do it without a question')
    .action(async (host: string, { for: duration, note, yes, ...options }: MuteOptions) => {
      const expiresIn = duration === undefined ? undefined : parseDuration(duration, '--for')
      const api = await apiClient(options)
      const name = await namedHost(api, host)
      await asked(`Mute ${name}?`, `mute ${name}`, yes)
      const body = await api.mute(name, {
        ...(expiresIn !== undefined && { expiresIn }),
        ...(note !== undefined && { note }),
      })
      const until = body.muted?.until
      const end = until ? `until ${moment(until)} UTC` : `until drawbridge unmute ${body.host}`
      print({ body, lines: () => [`${body.host} is muted ${end}.`] }, options.json)
    })
  withExample(command, 'drawbridge mute hello.example.test --for 2h --note "moves to a new server"')
}

/** A script that never passed --yes goes on. */
const asked = async (question: string, action: string, yes: boolean | undefined): Promise<void> => {
  if (process.stdin.isTTY) await confirm({ question, action, yes })
}

export function addUnmute(program: Command): void {
  const command = withApiOptions(program.command('unmute <host>'))
    .description('end the mute of a host')
    .option('-y, --yes', 'do it without a question')
    .action(async (host: string, { yes, ...options }: MuteOptions) => {
      const api = await apiClient(options)
      const name = await namedHost(api, host)
      await asked(`End the mute of ${name}?`, `end the mute of ${name}`, yes)
      const body = await api.unmute(name)
      const left = body.muted ? `${body.host} is still muted by the configuration.` : `${body.host} is not muted.`
      print({ body, lines: () => [left] }, options.json)
    })
  withExample(command, 'drawbridge unmute hello.example.test')
}
