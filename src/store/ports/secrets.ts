/** A text that is encrypted with one of the keys of the service. The store cannot read it. */
export interface SealedSecret {
  readonly name: string
  readonly keyId: string
  readonly sealed: string
}

/** An issued certificate with its chain, which is public. Its private key is the secret `certificate <fingerprint>`. */
export interface StoredCertificate {
  readonly fingerprint: string
  /** The first of its names. */
  readonly firstName: string
  readonly chain: string
  readonly storedAt: number
}

/** Secrets that all instances share, and the certificates whose keys they are. */
export interface SecretStore {
  findSecret(name: string): Promise<SealedSecret | undefined>
  /** Inserts the secret, or replaces the one of the same name. Repeatable. */
  putSecret(secret: SealedSecret, at: number): Promise<void>
  /** Repeatable: a secret that does not exist is no error. */
  deleteSecret(name: string): Promise<void>
  listSecrets(): Promise<SealedSecret[]>
  /** The id of the key with which secrets are sealed now. Undefined before the first one. */
  sealingKey(): Promise<string | undefined>
  /**
   * The same, and keeps it from changing until the transaction ends. Only inside a transaction: what is sealed with it there is
   * seen by whoever changes the key next.
   */
  holdSealingKey(): Promise<string | undefined>
  /** False, and nothing is changed, if `expected` is not the present one. Of concurrent calls at most one is true. */
  setSealingKey(keyId: string, expected: string | undefined): Promise<boolean>
  /** Inserts the certificate. Repeatable. */
  putCertificate(certificate: StoredCertificate): Promise<void>
  /** Repeatable: a certificate that does not exist is no error. */
  deleteCertificate(fingerprint: string): Promise<void>
  /** Oldest first. */
  listCertificates(): Promise<StoredCertificate[]>
  /** Those with this first name, oldest first. */
  certificatesOf(firstName: string): Promise<StoredCertificate[]>
  /** The first names of those that were stored after this time, each once. */
  certificateNamesSince(storedAt: number): Promise<string[]>
  /** When the newest one was stored. 0 before the first one. */
  newestCertificate(): Promise<number>
}
