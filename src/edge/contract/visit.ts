import type { Endpoint } from '../../model/address.ts'
import type { NoAnswerReason } from '../../model/badge.ts'

/**
 * A name that no host can have. It selects our own server, which answers that it is no host, even where another server is the
 * default.
 */
export const EDGE_NAME = 'edge.drawbridge.invalid'

export interface EdgeQuestion {
  readonly host: string
  readonly path: string
  readonly tls: boolean
  /** The secret of the plan whose server block should answer. With it, the answer has `entry`. */
  readonly proof?: string | undefined
}

export type EdgeAnswer =
  | {
      readonly kind: 'answer'
      readonly httpStatus: number
      readonly latencyMs: number
      /** Set when the question has a proof. `other`: a server block of another origin answered. */
      readonly entry?: 'ours' | 'other'
      /** The certificate that was served. Only with TLS. */
      readonly certificate?: {
        readonly fingerprint: string
        readonly names: readonly string[]
        /** The common name of the authority, or its organization. Absent from agents of earlier versions. */
        readonly issuer?: string | undefined
        /** Whether the certificate is valid for the host in the question. */
        readonly coversHost: boolean
        readonly notBefore: string
        readonly notAfter: string
      }
    }
  | {
      readonly kind: 'no_answer'
      readonly reason: NoAnswerReason
    }

export interface EdgeVisit extends EdgeQuestion {
  /** The address and port on which the edge listens for this host. */
  readonly listenAddress: Endpoint
  /** Do a full TLS handshake. Only then does the answer have the certificate. */
  readonly full: boolean
}

/** Sends repeated requests for many hosts. Never rejects. */
export interface EdgeVisitor {
  visit(question: EdgeVisit): Promise<EdgeAnswer>
  /** Drops the TLS session of a host that is no longer served. */
  forget(host: string): void
  close(): void
}

export type Handshake =
  | {
      readonly kind: 'certificate'
      readonly fingerprint: string
      /** In hex. */
      readonly serial: string
      readonly names: readonly string[]
      readonly coversHost: boolean
      readonly notBefore: number
      readonly notAfter: number
    }
  /** The edge ended the handshake, as it does for a name without a certificate. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }
