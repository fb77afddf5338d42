"""What a legal hold keeps besides from `DELETE`: a run in its group, and the files of uploads."""

from __future__ import annotations

from auth.identity import Role
from tests.contract.api_calls import create_run, error_of, session_path, token_for
from tests.contract.test_job_registration import register
from tests.contract.uploading import host_path, put, stored
from tests.services.api import Api

HELD = (409, "ABORTED")
RUN = "/machineLearningRuns/r"


def test_a_run_does_not_leave_a_group_that_is_held(api: Api) -> None:
    create_run(api, "r", runSet="legal")
    create_run(api, "other", runSet="free")
    api.http.patch("/runGroups/legal", json={"held": True})
    for group in ("mine", ""):
        left = api.http.patch(RUN, params={"updateMask": "runSet"}, json={"runSet": group})
        assert error_of(left) == HELD
        assert "legal" in left.json()["error"]["message"]
    # Sent back as it was read, it changes nothing; and whoever is in no held group moves freely.
    sent = {"displayName": "new", "runSet": "legal"}
    assert api.http.patch(RUN, json=sent).json()["displayName"] == "new"
    for group in ("mine", "legal"):
        moved = api.http.patch("/machineLearningRuns/other", json={"runSet": group})
        assert moved.json()["runSet"] == group
    # A job that begins anew is not refused, and does not take its run out either.
    register(api, {"logicalId": "r", "runSet": "mine", "labels": {"try": "2"}}, "run_set,labels")
    shown = api.http.get(RUN).json()
    assert (shown["runSet"], shown["labels"]) == ("legal", {"try": "2"})
    assert error_of(api.http.delete(RUN)) == HELD
    api.http.patch("/runGroups/legal", json={"held": False})
    assert api.http.patch(RUN, json={"runSet": "mine"}).json()["runSet"] == "mine"


def test_uploaded_files_of_what_is_held_stay(guarded_api: Api) -> None:
    api = guarded_api
    admin = {"Authorization": f"Bearer {token_for(api, Role.ADMIN)[1]}"}
    api.http.headers.update({"Authorization": f"Bearer {token_for(api, Role.EDITOR)[1]}"})
    create_run(api, "r")
    assert put(api, "a", b"first").status_code == 200
    for held in (session_path("r", "s"), RUN):
        assert api.http.patch(held, json={"held": True}, headers=admin).status_code == 200
        assert error_of(api.http.delete(host_path("a"))) == HELD
        assert error_of(put(api, "a", b"second", If_Match="*")) == HELD
        assert stored(api, "a") == b"first"
        # What is missing may still come.
        assert put(api, f"b of {held[-1]}", b"more").status_code == 200
        api.http.patch(held, json={"held": False}, headers=admin)
    assert put(api, "a", b"second", If_Match="*").status_code == 200
    assert api.http.delete(host_path("a")).status_code == 200
