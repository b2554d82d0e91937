import { UnaskableName } from './name.ts'

const NUMBERS: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  X25: 19,
  ISDN: 20,
  RT: 21,
  SIG: 24,
  KEY: 25,
  PX: 26,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  NID: 104,
  L32: 105,
  L64: 106,
  LP: 107,
  EUI48: 108,
  EUI64: 109,
  TSIG: 250,
  ANY: 255,
  URI: 256,
  CAA: 257,
}

const NAMES = new Map(Object.entries(NUMBERS).map(([name, number]) => [number, name]))

/** The mnemonic of a record type; `TYPEnnn` (RFC 3597) where there is none. */
export const typeName = (number: number): string => NAMES.get(number) ?? `TYPE${number}`

/** The number of a record type given as a mnemonic or as `TYPEnnn`. */
export function typeNumber(name: string): number {
  const number = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : Number(/^TYPE(\d{1,5})$/.exec(name)?.[1])
  if (number === undefined || !(number <= 0xffff)) throw new UnaskableName(`${name} is not a record type`)
  return number
}

export const CLASS_IN = 1
/** In an UPDATE: "does not exist" as a prerequisite, "delete this record" as a change (RFC 2136 sections 2.4 and 2.5). */
export const CLASS_NONE = 254
export const CLASS_ANY = 255
