import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

interface ImageSetting {
  readonly version: string
  /** As Go names it. */
  readonly architecture: string
  readonly epoch: number
}

interface Blob {
  readonly digest: string
  readonly size: number
}

const MEDIA = 'application/vnd.oci.image'

/** What has to outlive a container. */
const VOLUMES = ['/etc/drawbridge', '/etc/nginx/drawbridge', '/var/lib/drawbridge', '/var/lib/drawbridge-edge']

/** Writes an image in the layout of the Open Container Initiative: one layer, no daemon. Tools take it as `oci:FOLDER:VERSION`. */
export async function writeOciLayout(tarball: string, folder: string, setting: ImageSetting): Promise<void> {
  const { version, architecture, epoch } = setting
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const { layer, diffId } = await writeLayer(tarball, folder)
  const created = new Date(epoch * 1000).toISOString().replace('.000', '')
  const config = writeJson(folder, {
    ...{ created, architecture, os: 'linux' },
    config: {
      Entrypoint: ['/usr/sbin/drawbridge-container'],
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C.UTF-8'],
      ExposedPorts: { '80/tcp': {}, '443/tcp': {}, '8045/tcp': {} },
      Volumes: Object.fromEntries(VOLUMES.map((path) => [path, {}])),
      StopSignal: 'SIGTERM',
      Labels: { 'org.opencontainers.image.version': version, 'org.opencontainers.image.licenses': 'MIT' },
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created, comment: `drawbridge ${version}` }],
  })
  const manifest = writeJson(folder, {
    ...{ schemaVersion: 2, mediaType: `${MEDIA}.manifest.v1+json` },
    config: { mediaType: `${MEDIA}.config.v1+json`, ...config },
    layers: [{ mediaType: `${MEDIA}.layer.v1.tar+gzip`, ...layer }],
  })
  const annotations = { 'org.opencontainers.image.ref.name': version }
  const index = { mediaType: `${MEDIA}.manifest.v1+json`, ...manifest, annotations }
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [index] }))
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
}

/** A blob is named by the hash of its bytes, and a layer is also known by that of its tarball. */
async function writeLayer(tarball: string, folder: string): Promise<{ layer: Blob; diffId: string }> {
  const [whole, packed] = [createHash('sha256'), createHash('sha256')]
  const draft = join(folder, 'layer.new')
  const hashed = (hash: typeof whole) =>
    async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        hash.update(chunk)
        yield chunk
      }
    }
  await pipeline(
    createReadStream(tarball),
    hashed(whole),
    createGzip({ level: 6 }),
    hashed(packed),
    createWriteStream(draft),
  )
  const digest = packed.digest('hex')
  const { size } = statSync(draft)
  renameSync(draft, blobIn(folder, digest))
  return { layer: { digest: `sha256:${digest}`, size }, diffId: `sha256:${whole.digest('hex')}` }
}

function writeJson(folder: string, content: unknown): Blob {
  const text = JSON.stringify(content)
  const digest = createHash('sha256').update(text).digest('hex')
  writeFileSync(blobIn(folder, digest), text)
  return { digest: `sha256:${digest}`, size: Buffer.byteLength(text) }
}

const blobIn = (folder: string, digest: string): string => join(folder, 'blobs/sha256', digest)
