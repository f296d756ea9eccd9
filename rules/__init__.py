"""The rules, in the order in which they are asked; a file that is not named here does not run."""

from .branch.edited_out import edited_out
from .branch.forked import forked
from .branch.left_without_summary import left_without_summary
from .branch.new_root import new_root
from .branch.not_an_entry import not_an_entry
from .branch.not_sent import not_sent
from .branch.off_branch import off_branch
from .branch.old_settings import old_settings
from .branch.stale_leaf import stale_leaf
from .branch.summary_only import summary_only
from .branch.two_writers import two_writers
from .compaction.boundary_missing import boundary_missing
from .compaction.compacted_away import compacted_away
from .compaction.dropped_detail import dropped_detail
from .compaction.extension_summary import extension_summary
from .compaction.failed_compaction import failed_compaction
from .compaction.keeps_none import keeps_none
from .compaction.lost_between import lost_between
from .compaction.overflow_recovery import overflow_recovery
from .compaction.split_pair import split_pair
from .compaction.summary_of_summary import summary_of_summary
from .compaction.thin_summary import thin_summary
from .compaction.tokens import tokens
from .compaction.unexplained_drop import unexplained_drop
from .compaction.unsupported_summary import unsupported_summary
from .ledger.hidden_cost import hidden_cost
from .source.aborted_batch import aborted_batch
from .source.answered_elsewhere import answered_elsewhere
from .source.answered_twice import answered_twice
from .source.cannot_compare import cannot_compare
from .source.changed import changed
from .source.deleted import deleted
from .source.failed_result import failed_result
from .source.head_moved import head_moved
from .source.mention_only import mention_only
from .source.renamed import renamed
from .source.result_without_call import result_without_call
from .source.unanswered_call import unanswered_call
from .source.unchanged import unchanged
from .storage.continue_picks_other import continue_picks_other
from .storage.cwd_gone import cwd_gone
from .storage.duplicate_id import duplicate_id
from .storage.header_out_of_reach import header_out_of_reach
from .storage.missing_parent import missing_parent
from .storage.newer_version import newer_version
from .storage.no_session_folder import no_session_folder
from .storage.nothing_kept import nothing_kept
from .storage.nothing_on_day import nothing_on_day
from .storage.old_version import old_version
from .storage.other_project import other_project
from .storage.other_session import other_session
from .storage.parent_cycle import parent_cycle
from .storage.ran_elsewhere import ran_elsewhere
from .storage.refused_header import refused_header
from .storage.same_session_twice import same_session_twice
from .storage.schema_violation import schema_violation
from .storage.several_roots import several_roots
from .storage.shared_folder import shared_folder
from .storage.skipped_line import skipped_line
from .storage.unreadable import unreadable

PIPELINE = (
    # storage
    no_session_folder,
    nothing_on_day,
    other_project,
    other_session,
    continue_picks_other,
    shared_folder,
    refused_header,
    header_out_of_reach,
    skipped_line,
    missing_parent,
    duplicate_id,
    parent_cycle,
    several_roots,
    schema_violation,
    old_version,
    newer_version,
    cwd_gone,
    same_session_twice,
    unreadable,
    nothing_kept,
    ran_elsewhere,
    # branch
    off_branch,
    stale_leaf,
    summary_only,
    two_writers,
    forked,
    left_without_summary,
    new_root,
    edited_out,
    not_sent,
    old_settings,
    not_an_entry,
    # compaction
    compacted_away,
    boundary_missing,
    keeps_none,
    thin_summary,
    unsupported_summary,
    dropped_detail,
    summary_of_summary,
    split_pair,
    overflow_recovery,
    extension_summary,
    unexplained_drop,
    failed_compaction,
    tokens,
    lost_between,
    # source
    unanswered_call,
    result_without_call,
    answered_twice,
    failed_result,
    aborted_batch,
    mention_only,
    answered_elsewhere,
    changed,
    renamed,
    deleted,
    head_moved,
    cannot_compare,
    unchanged,
    # the ledger, beside the layers
    hidden_cost,
)
