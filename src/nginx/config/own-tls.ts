import { MAX_PARTS, type PemKind } from '../../estate/layout.ts'

/** For TLS 1.2. All have forward secrecy and authenticated encryption. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

export const parts = (kind: PemKind): number[] => Array.from({ length: MAX_PARTS[kind] }, (_, index) => index + 1)

export const pemVariable = (kind: PemKind, part: number): string => `$drawbridge_${kind}_${part}`

const pemVariables = (kind: PemKind): string =>
  parts(kind)
    .map((part) => pemVariable(kind, part))
    .join('')

/** All certificates. nginx chooses one by the name that the visitor requests. */
const CERTIFICATES = `  ssl_certificate data:${pemVariables('certificate')};
  ssl_certificate_key data:${pemVariables('key')};`

/**
 * The TLS directives of each of our servers: all certificates, and the protocol settings. Every server needs them, because another
 * server may become the default server at any time.
 */
export const OWN_TLS = `${CERTIFICATES}
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_ciphers ${CIPHERS};
  ssl_prefer_server_ciphers off;
  ssl_session_cache shared:drawbridge:10m;
  ssl_session_timeout 1d;
  ssl_session_tickets off;`

/** The options of a `listen` line for TLS at an address that only our servers use. */
export const tlsAlone = (hasHttp2 = false): string => (hasHttp2 ? ' ssl' : ' ssl http2')

/** HTTP/2 for one server, if nginx has the directive. It does not change the protocols of other servers at the same address. */
export const http2Line = (hasHttp2 = false): string => (hasHttp2 ? '\n  http2 on;' : '')
