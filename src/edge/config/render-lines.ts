import type { Site } from '../contract.ts'
import { type EntryProof, entryProof } from './proof.ts'

/** What an entry says, without its certificate. `identity`: what its plan's secret gives for the host. */
export interface EntryRecord
  extends Pick<Site, 'host' | 'planId' | 'target' | 'challenges' | 'furtherTargets' | 'options'> {
  readonly tls: boolean
  readonly identity: EntryProof | undefined
}

export const recordOf = (site: Site): EntryRecord => {
  const { host, planId, target, certificate, proof, challenges, furtherTargets, options } = site
  return {
    host,
    planId,
    target,
    challenges,
    furtherTargets,
    options,
    tls: certificate !== undefined,
    identity: proof === undefined ? undefined : entryProof(proof, host),
  }
}

/** Whether the host needs server blocks of its own: lines stand in servers that all hosts share. */
export const hasOptions = ({ options, furtherTargets }: Pick<EntryRecord, 'options' | 'furtherTargets'>): boolean =>
  options !== undefined || furtherTargets !== undefined

/**
 * An entry as lines. The base file has one server for all hosts of a kind; a host is its name in that server, and its values in
 * maps. The first word of a line says where it belongs, see gathered.ts.
 */
export function renderLines({ host, planId, target, tls, identity, challenges = {} }: EntryRecord): string {
  return [
    `entry ${JSON.stringify({ host, planId })}`,
    `${tls ? 'https' : 'http'} server_name ${host};`,
    `backend ${host} ${target};`,
    ...(identity ? [`answer "${host} ${identity.question}" ${identity.answer};`] : []),
    ...Object.entries(challenges).map(
      ([token, keyAuthorization]) => `challenge "${host} ${CHALLENGE_PATH}${token}" ${keyAuthorization};`,
    ),
    '',
  ].join('\n')
}

export const CHALLENGE_PATH = '/.well-known/acme-challenge/'
