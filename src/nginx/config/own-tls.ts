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

/** Every certificate, chosen by the name that the visitor asks for. */
const CERTIFICATES = `  ssl_certificate data:${pemVariables('certificate')};
  ssl_certificate_key data:${pemVariables('key')};`

/**
 * What every TLS server of ours has: all certificates, and how TLS is spoken. The default server alone would not do, because another
 * server may become that at any time.
 */
export const OWN_TLS = `${CERTIFICATES}
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_ciphers ${CIPHERS};
  ssl_prefer_server_ciphers off;
  ssl_session_cache shared:drawbridge:10m;
  ssl_session_timeout 1d;
  ssl_session_tickets off;`

/** The options of a `listen` line for TLS where nobody else listens. */
export const tlsAlone = (hasHttp2 = false): string => (hasHttp2 ? ' ssl' : ' ssl http2')

/** HTTP/2 for the names of one server, where nginx has the directive: others at the same address keep their protocols. */
export const http2Line = (hasHttp2 = false): string => (hasHttp2 ? '\n  http2 on;' : '')
