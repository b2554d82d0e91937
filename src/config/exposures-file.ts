import { Type } from 'typebox'
import { stringify } from 'yaml'
import { isNote, isOwner } from '../model/exposure.ts'
import type { ExposureOptions } from '../model/options/grammar.ts'
import { readOptions } from '../model/options/read-options.ts'
import { readFile } from './config.ts'
import { ConfigDocument } from './document.ts'
import * as value from './values.ts'

/** One exposure of a file, with the defaults of `drawbridge up`. */
export interface ListedExposure {
  readonly host: string
  readonly server: string
  readonly port: number
  readonly health: string
  readonly tls: boolean
  /** Milliseconds since 1970. Undefined: never. */
  readonly expiresAt?: number | undefined
  /** Undefined: the file does not say it, and it stays as it is. */
  readonly owner?: string | undefined
  readonly note?: string | undefined
  readonly options?: ExposureOptions | undefined
}

const instant = value.parsed(
  (given) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(given) ? parseInstant(given) : undefined,
  { allowed: 'a time with its zone, such as 2026-12-31T18:00:00Z' },
)

const parseInstant = (text: string): number | undefined => {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

const schema = Type.Object({
  exposures: Type.Array(
    Type.Object({
      host: value.dnsName('a host in full, such as hello.example.test'),
      server: value.serverId('the id of a server, such as 25'),
      port: Type.Integer({ minimum: 1, maximum: 65_535, allowed: 'a port, 1 to 65535' }),
      health: Type.String({ pattern: '^/', allowed: 'a path such as /healthz', default: '/healthz' }),
      tls: value.truth(true),
      expiresAt: Type.Optional(instant),
      owner: Type.Optional(
        value.parsed((given) => (isOwner(given) ? given : undefined), { allowed: 'a name such as team-web' }),
      ),
      note: Type.Optional(
        value.parsed((given) => (isNote(given) ? given : undefined), { allowed: 'one line of at most 200 characters' }),
      ),
      options: Type.Optional(Type.Unknown()),
    }),
    { default: [] },
  ),
})

/** The exposures of a file, each host once. Throws a ConfigError that names file, line and field of every fault. */
export function readExposures(file: string): readonly ListedExposure[] {
  const document = new ConfigDocument(
    readFile(file, 'The file of exposures cannot be read (REASON). Check its path.'),
    file,
  )
  const { exposures } = document.read(schema)
  const seen = new Set<string>()
  const listed = exposures.map(({ options: given, ...exposure }, index): ListedExposure => {
    const { host } = exposure
    if (seen.has(host)) document.refuse(['exposures', index, 'host'], `is there twice: ${host}.`)
    seen.add(host)
    const read = given === undefined ? { options: undefined } : readOptions(given)
    if ('options' in read) return { ...exposure, ...(read.options && { options: read.options }) }
    for (const { field, message } of read.errors)
      document.refuse(['exposures', index, ...field.split('.')], `${message}.`)
    return exposure
  })
  document.assertSound()
  return listed
}

const HEADER = `# Exposures of Drawbridge. "drawbridge diff -f FILE" compares them with the service, and
# "drawbridge apply -f FILE" makes the service expose them.
`

/** The text of such a file. What has its default is written too, so that a reader needs no other page. */
export const exposuresText = (exposures: readonly ListedExposure[]): string =>
  HEADER +
  stringify({
    exposures: exposures.map(({ expiresAt, ...listed }) => ({
      ...listed,
      ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    })),
  })
