import type { Endpoint } from './addresses.ts'

export interface Zone {
  readonly name: string
  /** Zone-file lines in addition to SOA, NS and the addresses of ns1 and ns2. Owner names are relative to the zone or absolute. */
  readonly records: readonly string[]
}

/** `secret` in base64. */
export interface TsigKey {
  readonly name: string
  readonly algorithm: string
  readonly secret: string
}

interface ServerConfig {
  readonly folder: string
  readonly port: number
  /** Default: 127.0.0.1. */
  readonly address?: string
  readonly tsig: TsigKey
  readonly zones: readonly Zone[]
}

export const zoneFileName = (zone: Zone): string => `${zone.name}.zone`

/** `secondary`: the server that is notified of changes. */
export function primaryConfig(server: ServerConfig, secondary: Endpoint | undefined): string {
  const key = keyName(server.tsig)
  const notify =
    secondary === undefined
      ? 'notify no;'
      : `notify explicit; also-notify { ${secondary.address} port ${secondary.port} key "${key}"; }; notify-delay 0;`
  const zones = server.zones.map(
    (zone) =>
      `zone "${zone.name}" { type master; file "${zoneFileName(zone)}"; update-policy { grant ${key} zonesub ANY; }; };`,
  )
  return commonConfig(server, notify, zones)
}

export function secondaryConfig(server: ServerConfig, primary: Endpoint): string {
  const key = keyName(server.tsig)
  const zones = server.zones.map(
    (zone) =>
      `zone "${zone.name}" { type slave; file "${zoneFileName(zone)}"; masters { ${primary.address} port ${primary.port} key "${key}"; }; allow-notify { key "${key}"; }; };`,
  )
  return commonConfig(server, 'notify no; min-retry-time 1; max-retry-time 5; max-refresh-time 5;', zones)
}

export function zoneFile(zone: Zone, nameServers: readonly [string, string]): string {
  return [
    `$ORIGIN ${zone.name}.`,
    '$TTL 60',
    '@ IN SOA ns1 hostmaster 1 3600 600 86400 5',
    '@ IN NS ns1',
    '@ IN NS ns2',
    `ns1 IN A ${nameServers[0]}`,
    `ns2 IN A ${nameServers[1]}`,
    ...zone.records,
    '',
  ].join('\n')
}

function commonConfig(
  { folder, port, address = '127.0.0.1', tsig }: ServerConfig,
  notify: string,
  zones: readonly string[],
): string {
  const key = keyName(tsig)
  // By default BIND sends notifications and asks for serials in ticks of half a second when changes follow one another.
  return `key "${key}" { algorithm ${tsig.algorithm}; secret "${tsig.secret}"; };
options {
  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key"; managed-keys-directory "${folder}";
  listen-on port ${port} { ${address}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; empty-zones-enable no;
  allow-transfer { key "${key}"; };
  notify-rate 1000; serial-query-rate 1000;
  ${notify}
};
controls { };
${zones.join('\n')}
`
}

const keyName = (tsig: TsigKey): string => (tsig.name.endsWith('.') ? tsig.name : `${tsig.name}.`)
