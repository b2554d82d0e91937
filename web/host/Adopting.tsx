import { CopyButton } from '../parts/CopyButton.tsx'
import { Notice } from '../parts/Notice.tsx'

/** How a host that somebody wrote into nginx by hand comes under management. */
export function Adopting({ host }: { readonly host: string }) {
  const command = `drawbridge adopt ${host} --health /`
  return (
    <Notice tone="calm" title="Drawbridge did not create this host">
      <p>
        A command takes its site under management. It shows what would change, and asks first. <code>--health</code> is
        the path on which the backend answers.
      </p>
      <p>
        <code>{command}</code> <CopyButton text={command} what="the command that adopts" />
      </p>
    </Notice>
  )
}
