#!/usr/bin/env node
// Starts Holdfast, or says in one line why this Node cannot. Old syntax and no static import on purpose: a Node that is
// too old must come as far as the check.
'use strict';

var NEEDED = '22.19';

function isOlder(version, needed) {
  var have = version.split('.').map(Number);
  var want = needed.split('.').map(Number);
  return have[0] < want[0] || (have[0] === want[0] && have[1] < want[1]);
}

if (isOlder(process.versions.node, NEEDED)) {
  console.error(
    'holdfast: Node ' +
      NEEDED +
      ' or newer is needed, and this is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '); install Node 24, or in a checkout: npm ci, which brings it, and then npm run -s holdfast -- COMMAND',
  );
  process.exit(2);
}

// The kernel ends process 1 of a container by no signal that it does not listen to, so that one which comes before a
// command listens, or a second one after it did, would be lost.
if (process.pid === 1) {
  endOnlyListener('SIGINT', 130);
  endOnlyListener('SIGTERM', 143);
}

function endOnlyListener(signal, code) {
  process.on(signal, function () {
    if (process.listenerCount(signal) === 1) process.exit(code);
  });
}

import('./start.js');
