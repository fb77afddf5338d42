// Calls a hub through Google's own Node client, as its users do, and prints what it answered as JSON.
// HUB_URL and HUB_TOKEN say where and as whom; the run's folder of profiles is HUB_FOLDER.
'use strict';

const {OAuth2Client} = require('google-auth-library');
const {MachineLearningRunsClient} = require('@google-cloud/hypercomputecluster').v1alpha;

const url = new URL(process.env.HUB_URL);
const authClient = new OAuth2Client();
authClient.setCredentials({access_token: process.env.HUB_TOKEN});
const client = new MachineLearningRunsClient({
  fallback: true,
  protocol: url.protocol.replace(':', ''),
  apiEndpoint: url.hostname,
  port: Number(url.port),
  authClient,
});
const parent = 'projects/p1/locations/us-central1';
const name = `${parent}/machineLearningRuns/my-run`;
const session = `${name}/profilerSessions/capture-1`;

async function refusal(call) {
  try {
    await call;
  } catch (error) {
    const fields = (error.statusDetails || []).flatMap(detail => detail.fieldViolations || []);
    return {code: error.code, message: error.message, fields: fields.map(one => one.field)};
  }
  return null;
}

async function runs(answers) {
  const run = {
    displayName: 'first',
    runSet: 'node',
    tools: [{xprof: {}}],
    labels: {created_by: 'node', Team: 'perf'},
    configs: {softwareConfigs: {jax_version: '0.10'}},
    artifacts: {gcsPath: process.env.HUB_FOLDER},
    orchestrator: 'GKE',
    runPhase: 'ACTIVE',
    workloadDetails: {
      gke: {id: 'job', kind: 'JobSet', cluster: 'c', namespace: 'n', parentWorkload: 'w'},
    },
  };
  const request = {parent, machineLearningRunId: 'my-run', machineLearningRun: run};
  const [creating] = await client.createMachineLearningRun(request);
  [answers.created] = await creating.promise();
  answers.metadata = creating.metadata;
  answers.again = await refusal(client.createMachineLearningRun(request));
  const others = ['a', 'b', 'c'].map(id =>
    client.createMachineLearningRun({
      parent,
      machineLearningRunId: `other-${id}`,
      machineLearningRun: {displayName: id, tools: [{xprof: {}}], orchestrator: 'GCE'},
    })
  );
  await Promise.all(others);
  [answers.got] = await client.getMachineLearningRun({name});
  const asked = {parent, pageSize: 2, filter: 'run_phase="ACTIVE"', orderBy: 'create_time desc'};
  const [page, next] = await client.listMachineLearningRuns(asked, {autoPaginate: false});
  answers.page = page.map(one => one.name);
  answers.hasNext = Boolean(next && next.pageToken);
  answers.all = [];
  for await (const one of client.listMachineLearningRunsAsync(asked)) {
    answers.all.push(one.name);
  }
  const [updating] = await client.updateMachineLearningRun({
    machineLearningRun: {name, etag: answers.got.etag, displayName: 'second', runPhase: 'COMPLETED'},
    updateMask: {paths: ['run_phase', 'display_name']},
  });
  [answers.updated] = await updating.promise();
  answers.outdated = await refusal(
    client.updateMachineLearningRun({
      machineLearningRun: {name, etag: answers.got.etag, displayName: 'third'},
      updateMask: {paths: ['display_name']},
    })
  );
  answers.badFilter = await refusal(
    client.listMachineLearningRuns({parent, filter: 'colour = "red"'})
  );
  answers.missing = await refusal(client.getMachineLearningRun({name: `${name}-not`}));
  const progress = await client.checkCreateMachineLearningRunProgress(creating.name);
  answers.progress = {done: progress.done, name: progress.result && progress.result.name};
  return creating.name;
}

async function sessions(answers) {
  const [creating] = await client.createProfilerSession({
    parent: name,
    profilerSessionId: 'capture-1',
    profilerSession: {
      profilerTargets: [`${name}/profilerTargets/t-0`],
      duration: {seconds: 5},
      hostTracerLevel: 'HOST_TRACER_LEVEL_INFO',
      deviceTracerLevel: 'DEVICE_TRACER_LEVEL_ENABLED',
      kind: 'KIND_ON_DEMAND',
    },
  });
  [answers.session] = await creating.promise();
  [answers.sessionGot] = await client.getProfilerSession({name: session});
  const [listed] = await client.listProfilerSessions({parent: name, pageSize: 10});
  answers.sessions = listed.map(one => one.name);
  const [targets] = await client.listProfilerTargets({parent: name});
  answers.targets = targets;
  const [events] = await client.listMonitoredEvents({parent: name});
  answers.events = events;
  answers.event = await refusal(
    client.getMonitoredEvent({name: `${name}/monitoredEvents/e1`})
  );
  answers.withChildren = await refusal(client.deleteMachineLearningRun({name}));
  await client.deleteProfilerSession({name: session});
  answers.sessionGone = await refusal(client.getProfilerSession({name: session}));
}

async function operations(answers, operation) {
  const [found] = await client.getOperation({name: operation});
  answers.operation = {name: found.name, done: found.done};
  answers.operations = [];
  for await (const one of client.listOperationsAsync({name: parent})) {
    answers.operations.push(one.name);
  }
  await client.cancelOperation({name: operation});
  await client.deleteOperation({name: operation});
  answers.operationGone = await refusal(client.getOperation({name: operation}));
  const [deleting] = await client.deleteMachineLearningRun({name, force: true});
  await deleting.promise();
  answers.runGone = await refusal(client.getMachineLearningRun({name}));
}

async function main() {
  const answers = {};
  const operation = await runs(answers);
  await sessions(answers);
  await operations(answers, operation);
  process.stdout.write(JSON.stringify(answers));
}

main().catch(error => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
