import type { Config } from '../config/config.ts'
import { exposuresText, type ListedExposure } from '../config/exposures-file.ts'
import type { Adoption, SiteFinding } from '../model/options/adoption.ts'
import { UsageError } from '../terminal/declare.ts'
import type { Output } from '../terminal/print.ts'
import type { Screen } from '../terminal/screen.ts'
import { hanging } from '../terminal/text.ts'

/** The hosts of another configuration, with the judgement of each. */
export interface ForeignHosts {
  readonly adoptions: readonly Adoption[]
  /** What could not be read. */
  readonly unreadable: readonly { readonly file: string; readonly line: number | null; readonly reason: string }[]
}

export type ReportForm = 'table' | 'yaml' | 'json'

export function formOf(written: string): ReportForm {
  if (written === 'table' || written === 'yaml' || written === 'json') return written
  throw new UsageError(`-o ${JSON.stringify(written)} is not known. Use table, yaml or json.`)
}

/**
 * Sorts the hosts into those that can be adopted and those that cannot. Changes nothing. `isServed`: the Primary serves these hosts, so
 * `drawbridge adopt` can take them.
 */
export function importReport(
  config: Config,
  { adoptions, unreadable }: ForeignHosts,
  form: ReportForm,
  isServed = false,
): Output {
  const hosts = adoptions.map((adoption) => rowOf(adoption, [...config.zones.keys()]))
  const exposures = hosts.flatMap(({ exposure }) => exposure ?? [])
  return {
    body: { hosts: hosts.map(({ exposure, ...row }) => ({ ...row, ...(exposure && { exposure }) })), unreadable },
    lines: (screen) =>
      form === 'yaml'
        ? [exposuresText(exposures).trimEnd()]
        : [
            ...reportLines(hosts, unreadable, screen, isServed),
            ...(isServed && exposures.length > 0 && !config.adopt.enabled ? hanging('', 0, OFF, screen.columns) : []),
          ],
    // An empty report because nothing could be read is not a success.
    ...(hosts.length === 0 && unreadable.length > 0 && { exitCode: 1 }),
  }
}

interface Row {
  readonly host: string
  readonly adoptable: boolean
  readonly files: readonly string[]
  readonly changed: readonly SiteFinding[]
  readonly lost: readonly SiteFinding[]
  readonly refused: readonly SiteFinding[]
  readonly exposure?: ListedExposure
}

function rowOf(
  { host, backend, tls, options, files, changed, lost, refused }: Adoption,
  zones: readonly string[],
): Row {
  const isInZone = zones.some((zone) => host.endsWith(`.${zone}`) && !host.slice(0, -zone.length - 1).includes('.'))
  const outside = { directive: 'server_name', file: files[0] ?? '', line: 0, sentence: NOT_IN_ZONE }
  const reasons = isInZone ? refused : [...refused, outside]
  const adoptable = reasons.length === 0 && backend !== undefined
  const row = { host, adoptable, files, changed, lost, refused: reasons }
  return adoptable ? { ...row, exposure: { host, ...backend, health: '/', tls, ...(options && { options }) } } : row
}

const OFF =
  'Adopting is off: set adopt.enabled to true in drawbridge.yaml and in edge.yaml, and restart both units first.'
const NOT_IN_ZONE = 'The name is not directly below a zone of the configuration.'

function reportLines(
  rows: readonly Row[],
  unreadable: ForeignHosts['unreadable'],
  screen: Screen,
  isServed: boolean,
): string[] {
  const widest = Math.max(0, ...rows.map(({ host }) => host.length))
  const lines = rows.flatMap(({ host, adoptable, changed, lost, refused, exposure }) => {
    const word = adoptable ? (lost.length > 0 ? 'with loss' : 'yes') : 'no'
    const tone = adoptable ? (lost.length > 0 ? 'careful' : 'good') : 'bad'
    const head = `${screen.paint(tone, word.padEnd(11))}${host.padEnd(widest + 2)}`
    const width = 11 + widest + 2
    const target = exposure
      ? `server ${exposure.server}, port ${exposure.port}${exposure.tls ? ', HTTPS' : ''}`
      : 'cannot be adopted'
    const listed = (findings: readonly SiteFinding[], word: string) =>
      findings.flatMap(({ directive, file, line, sentence }) => {
        const place = `${directive}, ${file}${line > 0 ? `:${line}` : ''}`
        return hanging(' '.repeat(width), width, `${word}${place}: ${sentence}`, screen.columns)
      })
    const why = adoptable ? [...listed(lost, 'lost: '), ...listed(changed, 'changed: ')] : listed(refused, '')
    const command = `drawbridge adopt ${host}${lost.length > 0 ? ' --accept-loss' : ''}`
    // Not wrapped: a person copies it.
    const next = isServed && adoptable ? [`${' '.repeat(width)}${command}`] : []
    return [...hanging(head, width, target, screen.columns), ...why, ...next]
  })
  const faults = unreadable.map(
    ({ file, line, reason }) => `Not read: ${file}${line === null ? '' : `:${line}`}: ${reason}.`,
  )
  const adoptable = rows.filter((row) => row.adoptable)
  const lossy = adoptable.filter(({ lost }) => lost.length > 0).length
  const summary = `${rows.length} hosts: ${adoptable.length} can be adopted, ${lossy} of them with a loss. Nothing was changed.`
  return [...lines, ...faults, ...(rows.length > 0 ? [''] : []), summary]
}
