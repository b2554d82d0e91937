import type { Command } from 'commander'
import type { ExposureOptions } from '../client/bodies.ts'
import { HEADER_NAMES, HEADER_WORDS } from '../model/options/grammar.ts'
import { UsageError } from '../terminal/declare.ts'
import { parseDuration } from './duration.ts'

/** The options of an exposure, as flags of `plan` and `up`. */
export interface OptionFlags {
  readonly maxBody?: string
  readonly timeout?: string
  readonly connectTimeout?: string
  readonly websocket?: boolean
  readonly buffering?: boolean
  readonly header?: readonly string[]
  readonly allow?: readonly string[]
  readonly basicAuth?: string
  readonly backend?: readonly string[]
  readonly backendCa?: string
  readonly backendName?: string
  readonly snippet?: readonly string[]
  /** False: the exposure gets no options but those of the other flags. */
  readonly options?: boolean
}

const several = (value: string, former: readonly string[] = []): readonly string[] => [...former, value]

/** The short names of headers: `frame-options` for frameOptions. */
const SHORT = new Map(
  HEADER_NAMES.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), name]),
)

export const withOptions = (command: Command): Command =>
  command
    .optionsGroup('Options of the edge for this host (a change keeps those that it does not name):')
    .option('--max-body <size>', 'the largest body of a request, such as 50m; 0 for no limit')
    .option('--timeout <duration>', 'how long the backend may take between two reads or writes, such as 60s')
    .option('--connect-timeout <duration>', 'how long a connection to the backend may take, at most 75s')
    .option('--websocket', 'pass WebSocket upgrades on (default)')
    .option('--no-websocket', 'do not pass WebSocket upgrades on')
    .option('--buffering', 'buffer requests and responses (default)')
    .option('--no-buffering', 'pass requests and responses on at once, for streams and large uploads')
    .option(
      '--header <name=value>',
      `add a response header: hsts[=SECONDS[,subdomains][,preload]], ${[...SHORT.keys()].join(', ')}; may be repeated`,
      several,
    )
    .option('--allow <network>', 'let only this network visit the host; may be repeated', several)
    .option('--basic-auth <id>', 'ask visitors for a password of this file of the configuration')
    .option('--backend <server:port>', 'a further backend for when the first one fails; may be repeated', several)
    .option('--backend-ca <id>', 'speak HTTPS with the backend, and trust this authority of the configuration')
    .option('--backend-name <name>', "the name in the backend's certificate; default: the host")
    .option('--snippet <id>', 'include this snippet of the configuration; may be repeated', several)
    .option('--no-options', 'a change drops the options that it does not name')
    .optionsGroup('Options:')

/** The options that the flags name. Empty if they name none. */
export function optionsIn(flags: OptionFlags): ExposureOptions {
  const { maxBody, timeout, connectTimeout, websocket, buffering, header, allow, basicAuth, backend, snippet } = flags
  const span = timeout === undefined ? undefined : parseDuration(timeout, '--timeout')
  const connect = connectTimeout === undefined ? undefined : parseDuration(connectTimeout, '--connect-timeout')
  if (flags.backendName !== undefined && flags.backendCa === undefined)
    throw new UsageError('--backend-name needs --backend-ca, because only HTTPS has names.')
  return {
    ...(maxBody !== undefined && { maxBody: maxBody.toLowerCase() }),
    ...((span !== undefined || connect !== undefined) && {
      timeouts: {
        ...(connect !== undefined && { connect }),
        ...(span !== undefined && { read: span, send: span }),
      },
    }),
    ...(websocket !== undefined && { websocket }),
    ...(buffering !== undefined && { buffering }),
    ...(header && { headers: Object.assign({}, ...header.map(headerIn)) }),
    ...(allow && { allow: [...allow] }),
    ...(basicAuth !== undefined && { basicAuth }),
    ...(backend && { backends: backend.map(backendIn) }),
    ...(flags.backendCa !== undefined && {
      backendTls: { authority: flags.backendCa, ...(flags.backendName !== undefined && { name: flags.backendName }) },
    }),
    ...(snippet && { snippets: [...snippet] }),
  }
}

const YEAR = 31_536_000

function headerIn(text: string): NonNullable<ExposureOptions['headers']> {
  const [given = '', value] = text.split('=', 2)
  const name = given.toLowerCase()
  if (name === 'hsts') {
    const [age = String(YEAR), ...flags] = (value ?? '').split(',').filter((part) => part !== '')
    const unknown = flags.find((flag) => flag !== 'subdomains' && flag !== 'preload')
    if (!/^\d{1,8}$/.test(age) || unknown !== undefined)
      throw new UsageError(`--header ${text} is not valid. Use hsts, or hsts=31536000,subdomains,preload.`)
    return {
      hsts: {
        maxAge: Number(age),
        ...(flags.includes('subdomains') && { includeSubDomains: true }),
        ...(flags.includes('preload') && { preload: true }),
      },
    }
  }
  const known = SHORT.get(name)
  if (!known) throw new UsageError(`--header ${text} is not known. Headers: hsts, ${[...SHORT.keys()].join(', ')}.`)
  const words: readonly string[] = HEADER_WORDS[known].words
  const word = words.find((one) => one.toLowerCase() === value?.toLowerCase())
  const only = value === undefined && words.length === 1 ? words[0] : undefined
  if (word === undefined && only === undefined)
    throw new UsageError(`--header ${text} is not valid. Use ${name}= and one of ${words.join(', ')}.`)
  return { [known]: word ?? only }
}

function backendIn(text: string): { server: string; port: number } {
  const [, server, port] = /^([A-Za-z0-9-]{1,32}):(\d{1,5})$/.exec(text) ?? []
  if (server === undefined) throw new UsageError(`--backend ${text} is not valid. Use SERVER:PORT, such as 25:8081.`)
  return { server, port: Number(port) }
}
