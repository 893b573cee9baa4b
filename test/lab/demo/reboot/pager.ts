import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notification } from '../../../../src/domain/core/notification.ts';
import type { Undo } from '../set-up.ts';
import type { Timeline } from '../timeline.ts';

/** Takes pages as the receiver of a person would, and shows them. */
export interface Pager {
  readonly url: string;
  readonly pages: readonly Notification[];
}

export async function startPager(timeline: Timeline, undo: Undo): Promise<Pager> {
  const pages: Notification[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const page = JSON.parse(body) as Notification;
      pages.push(page);
      timeline.tell('pager', page.text, 'bad');
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, pages };
}
