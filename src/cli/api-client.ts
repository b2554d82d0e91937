import { type Command, Option } from 'commander'
import type { DrawbridgeClient } from '../client/client.ts'
import { withJson } from '../terminal/declare.ts'
import { FORMATS, type Format } from '../terminal/print.ts'
import { serviceUrl } from './service/own-settings.ts'

/** The options of every command that calls the API. */
export interface ApiOptions {
  readonly url?: string
  readonly json?: boolean
}

export const withUrl = (command: Command): Command =>
  command.option(
    '--url <address>',
    'address of the service (default: DRAWBRIDGE_URL, then url in ~/.config/drawbridge/config.yaml, then this machine)',
  )

/** The same for commands that read: people and scripts choose the form of the output. */
export const withOutput = (command: Command): Command =>
  withApiOptions(command).addOption(
    new Option('-o, --output <format>', 'wide: all columns; name: only names; json or yaml: one document').choices(
      FORMATS,
    ),
  )

export interface OutputOptions extends ApiOptions {
  readonly output?: Format
}

export const formatOf = ({ output, json }: OutputOptions): Format | undefined => output ?? (json ? 'json' : undefined)

export const withApiOptions = (command: Command): Command => withJson(withUrl(command))

/** Imports the client only when a command calls the API: help and completion start faster without it. */
export async function apiClient({ url }: ApiOptions): Promise<DrawbridgeClient> {
  const { createClient } = await import('../client/client.ts')
  const client = createClient(await serviceUrl(url, process.env))
  const getPlan: DrawbridgeClient['getPlan'] = async (planId) => {
    const plan = await client.getPlan(planId)
    hosts.set(planId, plan.host)
    return plan
  }
  return { ...client, getPlan }
}

const hosts = new Map<string, string>()

/** The host of a plan that this command has read. */
export const hostOfPlan = (planId: string): string | undefined => hosts.get(planId)
