import type { Command } from 'commander'
import { withExample } from '../../terminal/declare.ts'
import { print } from '../../terminal/print.ts'
import { moment } from '../../terminal/text.ts'
import { type ApiOptions, apiClient, withApiOptions } from '../api-client.ts'
import { parseDuration } from '../duration.ts'
import { hostIn } from '../exposure-options.ts'

interface MuteOptions extends ApiOptions {
  readonly for?: string
  readonly note?: string
}

export function addMute(program: Command): void {
  const command = withApiOptions(program.command('mute <host>'))
    .description('stop alerts and webhooks about the trouble of a host, managed or not; it is still checked')
    .option('--for <duration>', 'how long, such as 2h or 7d (default: until drawbridge unmute)')
    .option('--note <text>', 'why, for others')
    .action(async (host: string, { for: duration, note, ...options }: MuteOptions) => {
      const api = await apiClient(options)
      const body = await api.mute(hostIn(host), {
        ...(duration !== undefined && { expiresIn: parseDuration(duration, '--for') }),
        ...(note !== undefined && { note }),
      })
      const until = body.muted?.until
      const end = until ? `until ${moment(until)} UTC` : `until drawbridge unmute ${body.host}`
      print({ body, lines: () => [`${body.host} is muted ${end}.`] }, options.json)
    })
  withExample(command, 'drawbridge mute hello.example.test --for 2h --note "moves to a new server"')
}

export function addUnmute(program: Command): void {
  const command = withApiOptions(program.command('unmute <host>'))
    .description('end the mute of a host')
    .action(async (host: string, options: ApiOptions) => {
      const api = await apiClient(options)
      const body = await api.unmute(hostIn(host))
      const left = body.muted ? `${body.host} is still muted by the configuration.` : `${body.host} is not muted.`
      print({ body, lines: () => [left] }, options.json)
    })
  withExample(command, 'drawbridge unmute hello.example.test')
}
