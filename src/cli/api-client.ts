import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { DrawbridgeClient } from '../client/client.ts'
import { UsageError, withJson } from '../terminal/declare.ts'

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
  const { createClient } = await import('../client/client.ts')
  return createClient(await serviceUrl(url, process.env))
}

type Environment = Readonly<Record<string, string | undefined>>

const USUAL = 'http://127.0.0.1:8045'

/** Where the service is: `--url`, DRAWBRIDGE_URL, the `url` of the person's own file, or this machine. */
export async function serviceUrl(option: string | undefined, environment: Environment): Promise<string> {
  if (option !== undefined) return checked(option, '--url')
  const variable = environment.DRAWBRIDGE_URL
  if (variable) return checked(variable, 'DRAWBRIDGE_URL')
  const file = configFile(environment)
  const own = await urlIn(file)
  return own === undefined ? USUAL : checked(own, `url in ${file}`)
}

const configFile = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'drawbridge', 'config.yaml')

async function urlIn(file: string): Promise<string | undefined> {
  const text = textOf(file)
  if (text === undefined) return undefined
  // YAML is a language of its own to load: most calls have no such file.
  const [{ ConfigDocument }, { Type }] = await Promise.all([import('../config/document.ts'), import('typebox')])
  return new ConfigDocument(text, file).read(
    Type.Object({ url: Type.Optional(Type.String({ allowed: 'an address' })) }),
  ).url
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new UsageError(`${file} cannot be read (${code ?? 'unknown reason'})`)
  }
}

function checked(text: string, source: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${source} is no address; say it like http://192.168.45.23:8045`)
  }
  if (url.username || url.password) {
    throw new UsageError(`${source} holds a user name or password: the service knows its callers by their address`)
  }
  return url.origin
}
