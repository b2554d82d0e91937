import { type Listing, listFiles, stampOf } from './pem-file.ts'

/**
 * The files of the folder of issued certificates. Every new pair is renamed into the folder, and then the store gets a new version.
 * Therefore the last listing is valid while neither the folder nor the version changes.
 */
export class IssuedListing {
  readonly #folder: string
  readonly #version: (() => Promise<string>) | undefined
  #last: { readonly stamp: string; readonly listing: Listing; readonly call: number } | undefined
  #forgotten = 0

  /** Without a `version`, every call lists the folder. */
  constructor(folder: string, version: (() => Promise<string>) | undefined) {
    this.#folder = folder
    this.#version = version
  }

  async list(): Promise<Listing> {
    const call = this.#forgotten
    const stamp = await this.#stamp()
    const last = this.#last
    if (last && last.call === call && last.stamp === stamp) return last.listing
    const listing = await listFiles(this.#folder)
    this.#last = stamp === undefined ? undefined : { stamp, listing, call }
    return listing
  }

  /** The next call lists the folder. A listing in progress is not used for later calls. */
  forget(): void {
    this.#forgotten += 1
  }

  /** Undefined if it cannot be determined: then the folder is listed. */
  async #stamp(): Promise<string | undefined> {
    const [version, folder] = await Promise.all([this.#version?.().catch(() => undefined), stampOf(this.#folder)])
    return version === undefined || folder === undefined ? undefined : `${folder} ${version}`
  }
}
