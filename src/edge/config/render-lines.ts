import type { Site } from '../contract.ts'
import { entryProof } from './proof.ts'

/**
 * An entry as lines. The base file has one server for all hosts of a kind; a host is its name in that server, and its values in
 * maps. The first word of a line says where it belongs, see gathered.ts.
 */
export function renderLines({ host, planId, target, certificate, proof, challenges = {} }: Site): string {
  const identity = proof === undefined ? undefined : entryProof(proof, host)
  return [
    `entry ${JSON.stringify({ host, planId })}`,
    `${certificate ? 'https' : 'http'} server_name ${host};`,
    `backend ${host} ${target};`,
    ...(identity ? [`answer "${host} ${identity.question}" ${identity.answer};`] : []),
    ...Object.entries(challenges).map(
      ([token, keyAuthorization]) => `challenge "${host} /.well-known/acme-challenge/${token}" ${keyAuthorization};`,
    ),
    '',
  ].join('\n')
}
