import type { Command } from 'commander'
import type { DrawbridgeClient } from '../client/client.ts'
import { withJson } from '../terminal/declare.ts'

/** What every command that goes through the API takes. */
export interface Connected {
  readonly url?: string
  readonly json?: boolean
}

export const atUrl = (command: Command): Command =>
  command.option('--url <address>', 'the service; else DRAWBRIDGE_URL, else url in ~/.config/drawbridge/config.yaml')

export const throughApi = (command: Command): Command => withJson(atUrl(command))

/** Loaded only when it is needed: help and completion know no network. */
export async function reach({ url }: Connected): Promise<DrawbridgeClient> {
  const { serviceUrl } = await import('./address.ts')
  const { createClient } = await import('../client/client.ts')
  return createClient(await serviceUrl(url, process.env))
}
