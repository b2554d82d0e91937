import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import type { DrawbridgeClient } from '../client/client.ts'
import { UsageError, withJson } from '../terminal/declare.ts'
import { FORMATS, type Format } from '../terminal/print.ts'
import { urlOnThisMachine } from './service-address.ts'

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
  return createClient(await serviceUrl(url, process.env))
}

type Environment = Readonly<Record<string, string | undefined>>

/** The address of the service: `--url`, then DRAWBRIDGE_URL, then `url` in the user's own file, then this machine. */
export async function serviceUrl(option: string | undefined, environment: Environment): Promise<string> {
  if (option !== undefined) return checked(option, '--url')
  const variable = environment.DRAWBRIDGE_URL
  if (variable) return checked(variable, 'DRAWBRIDGE_URL')
  const { file, url } = await ownSettings(environment)
  return url === undefined ? await urlOnThisMachine(environment) : checked(url, `url in ${file}`)
}

/** Who the user is, a name that the service checks: `--owner`, then DRAWBRIDGE_OWNER, then `owner` in the user's own file. Undefined: nobody has said it. */
export async function ownName(option: string | undefined, environment: Environment): Promise<string | undefined> {
  return option ?? (environment.DRAWBRIDGE_OWNER || (await ownSettings(environment)).owner)
}

const configFile = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'drawbridge', 'config.yaml')

async function ownSettings(environment: Environment): Promise<{ file: string; url?: string; owner?: string }> {
  const file = configFile(environment)
  const text = textOf(file)
  if (text === undefined) return { file }
  // The YAML parser is slow to load, and most users have no such file.
  const [{ ConfigDocument }, { Type }] = await Promise.all([import('../config/document.ts'), import('typebox')])
  const own = new ConfigDocument(text, file).read(
    Type.Object({
      url: Type.Optional(Type.String({ allowed: 'an address' })),
      owner: Type.Optional(Type.String({ allowed: 'a name such as team-web' })),
    }),
  )
  return { file, ...own }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new UsageError(`${file} cannot be read (${code ?? 'unknown reason'}). Check its permissions.`)
  }
}

function checked(text: string, source: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${source} is not the address of a service. Use a form such as http://192.168.45.23:8045.`)
  }
  if (url.username || url.password) {
    throw new UsageError(
      `${source} contains a user name or password. Remove it: the service identifies callers by their address.`,
    )
  }
  return url.origin
}
