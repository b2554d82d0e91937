/** A certificate in one of the configured folders whose private key is there too. */
export interface InstalledCertificate {
  /** The DNS names it was issued for, lower case, wildcards with their asterisk. */
  readonly names: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
  /** SHA-256 of the certificate, as upper-case pairs with colons. */
  readonly fingerprint: string
  /** The file with the certificate and the longest chain behind it. */
  readonly certificateFile: string
  readonly keyFile: string
}

export interface CoveringCertificate extends InstalledCertificate {
  /** Whether the host is covered by a wildcard name. */
  readonly byWildcard: boolean
}

/** A file that was passed over, and why; never what is in it. */
export interface PassedOver {
  readonly path: string
  readonly sentence: string
}

/** Certificates that an administrator placed. Reads only. */
export interface CertificateInventory {
  passedOver(): Promise<readonly PassedOver[]>
  /** The best certificate that covers `host` at `now` (milliseconds since 1970). */
  covering(host: string, now: number): Promise<CoveringCertificate | undefined>
}

export type DirectoryLook =
  | { readonly kind: 'available'; readonly caaIdentities: readonly string[] }
  | { readonly kind: 'unavailable'; readonly reason: string }

/** An ACME server's directory. Looking at it creates nothing there. */
export interface AcmeDirectory {
  readonly url: string
  /** May be called by anyone at any time: the server is not asked more often than is good for it. Never rejects. */
  look(): Promise<DirectoryLook>
}
